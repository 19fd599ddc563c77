"""Makes `docs/images/demo.svg`: what `agents demo` really prints on a terminal.

The program runs at a pseudo terminal of a fixed width, so colours and tables are those a person
sees. Ids and hashes differ from run to run, so the picture is made again when the look changes,
not on every build.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "images" / "demo.svg"
COMMAND = ("agents", "demo")
COLUMNS = 100
LINES = 60


def terminal_output(program: str, arguments: tuple[str, ...]) -> str:
    """Runs a program at a terminal and returns everything it wrote there.

    Raises:
        RuntimeError: it did not end well.
    """
    process, terminal = pty.fork()
    if process == 0:
        window = struct.pack("HHHH", LINES, COLUMNS, 0, 0)
        fcntl.ioctl(sys.stdout.fileno(), termios.TIOCSWINSZ, window)
        plain = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        os.execve(program, [Path(program).name, *arguments], kept | plain)
    written = bytearray()
    try:
        while piece := os.read(terminal, 65536):
            written += piece
    except OSError:
        pass  # On Linux the end of the other side is an error.
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    text = written.decode().replace("\r\n", "\n")
    if status != 0:
        raise RuntimeError(f"{program} ended with status {status}:\n{text}")
    return text


def picture(command: str, output: str) -> str:
    """Draws a terminal with the command and its output."""
    with Path(os.devnull).open("w") as nowhere:
        console = Console(
            record=True, width=COLUMNS, file=nowhere, force_terminal=True, color_system="truecolor"
        )
        console.print(Text(f"$ {command}", style="bold"))
        console.print(Text.from_ansi(output.rstrip("\n")))
    drawn = console.export_svg(title=command, theme=MONOKAI, unique_id="demo")
    # Without the fonts that rich would load from elsewhere: a picture asks nobody for anything.
    alone = re.sub(r"\s*@font-face \{.*?\}", "", drawn, flags=re.DOTALL)
    return alone.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, monospace")


def main() -> int:
    program = Path(sys.executable).parent / COMMAND[0]
    output = terminal_output(str(program), COMMAND[1:])
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(picture(" ".join(COMMAND), output), encoding="utf-8")
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
