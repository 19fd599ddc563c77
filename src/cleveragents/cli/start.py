"""Where `agents` starts: answers at once what needs no library, and loads the rest for all else.

Click alone takes longer to import than Python takes to start. So the help of `agents` is stored as
Click lays it out, for the two widths that screens and pipes have: `scripts/generate_docs.py` writes
it. Any other width, and whatever goes wrong here, is left to Click.
"""

from __future__ import annotations

import gc
import os
import sys

from cleveragents import __version__

_OBJECTS_BEFORE_COLLECTION = 50_000
"""Nearly all that a short command creates lives until it ends, so that looking for garbage among it
takes a twentieth of its time and finds none. A long run still collects."""

HELP_WIDTHS = (80, 100)
"""80 columns where there is no terminal; 100 is the most that the help uses."""


def main() -> int:
    """Runs one call of `agents` and returns its exit code."""
    if not _answered(sys.argv[1:]):
        gc.set_threshold(_OBJECTS_BEFORE_COLLECTION)
        from cleveragents.cli.main import main as run

        return run()
    return 0


def help_file(width: int) -> str:
    """Returns the file with the help for screens of that width."""
    return os.path.join(os.path.dirname(__file__), f"help-{width}.txt")


def _answered(arguments: list[str]) -> bool:
    """Prints the version or the help, if that is all that is asked for."""
    if arguments not in (["--version"], ["--help"], ["-h"]) or "_AGENTS_COMPLETE" in os.environ:
        return False
    try:
        if arguments == ["--version"]:
            text = f"agents {__version__}\n"
        elif (width := min(_columns(), HELP_WIDTHS[-1])) in HELP_WIDTHS:
            with open(help_file(width), encoding="utf-8") as file:
                text = file.read()
        else:
            return False
        sys.stdout.write(text)
        sys.stdout.flush()
    except (AttributeError, OSError):  # There is no output, or nobody reads it.
        return False
    return True


def _columns() -> int:
    """Returns the width of the screen, as `shutil`, which takes long to import, would."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or HELP_WIDTHS[0]
    except (OSError, ValueError):
        return HELP_WIDTHS[0]
