"""`agents` on a pseudo terminal of a given width, as a person at a screen uses it."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence

from features.support.world import Outcome, World

_ROWS = 50


def at_terminal(
    world: World, *arguments: str, columns: int = 80, typed: Sequence[tuple[str, str]] = ()
) -> Outcome:
    """Runs a command whose three streams are one terminal; its text is the outcome's `stdout`.

    Args:
        world: Where it runs.
        arguments: What follows `agents`.
        columns: The width of the terminal.
        typed: What the user types, each after a text has appeared.
    """
    controller, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, columns, 0, 0))
    process = subprocess.Popen(
        # The terminal must be that of a new session, so that Ctrl-C interrupts the command.
        ["setsid", "--ctty", "--wait", sys.executable, "-m", "cleveragents", *arguments],
        env=world.environment,
        cwd=world.project,
        stdin=follower,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    text = _conversation(controller, list(typed))
    world.outcome = Outcome(process.wait(), text, "")
    return world.outcome


def _conversation(controller: int, typed: list[tuple[str, str]]) -> str:
    text, seen = "", 0
    while True:
        try:
            chunk = os.read(controller, 65536)
        except OSError:  # Nobody has the terminal open any more.
            chunk = b""
        if not chunk:
            os.close(controller)
            return text.replace("\r\n", "\n")
        text += chunk.decode(errors="replace")
        while typed and typed[0][0] in text[seen:]:
            awaited, keys = typed.pop(0)
            seen = text.index(awaited, seen) + len(awaited)
            os.write(controller, keys.encode())
