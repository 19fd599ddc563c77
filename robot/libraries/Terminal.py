"""A person at a terminal: a real pseudo terminal of 80 columns, with keys and a screen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shlex
import struct
import subprocess
import termios
import time
from typing import Any

from robot.api import logger
from robot.api.deco import keyword, library
from robot.libraries.BuiltIn import BuiltIn

WAIT_SECONDS = 1200
_SIZE = struct.pack("HHHH", 50, 80, 0, 0)
_BAR = 30
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_KEYS = {"Control-C": b"\x03", "Enter": b"\n"}


@library(scope="TEST", auto_keywords=False)
class Terminal:
    """Runs commands with a terminal, and remembers all that they drew."""

    def __init__(self) -> None:
        self._drawn = ""

    @property
    def cli(self) -> Any:
        return BuiltIn().get_library_instance("AgentsCli")

    @keyword("The User Types")
    def types(self, line: str) -> None:
        """Runs a command that asks nothing."""
        self._run(line, [])

    @keyword("The User Types '${line}' And Answers")
    def types_and_answers(self, line: str, answer: str) -> None:
        """Runs a command that asks; the answer is a key or a word."""
        self._run(line, [("[y/N]", _KEYS.get(answer, f"{answer}\n".encode()))])

    @keyword("The Bar Of '${name}' Reached")
    def bar_reached(self, name: str, total: str) -> None:
        """The bar that was drawn last is full, and an earlier one was not."""
        full = f"{name} [{'#' * _BAR}] {total} of {total}"
        if full not in self._drawn:
            raise AssertionError(f"`{full}` was not drawn:\n{self._drawn[-2000:]}")
        counts = {int(found) for found in re.findall(rf"(\d+) of {total}", self._drawn)}
        if len(counts) < 2:
            raise AssertionError(f"The bar did not move: {counts}")

    @keyword("No Bar Was Drawn")
    def no_bar(self) -> None:
        said = self.cli.stdout + self.cli.stderr
        if re.search(r"\[#* *\] \d+ of \d+", said):
            raise AssertionError(said)

    @keyword("The Screen Says")
    def screen_says(self, text: str) -> None:
        screen = " ".join(_CONTROL.sub("", self._drawn).split())
        if text not in screen:
            raise AssertionError(f"`{text}` is not on the screen:\n{screen[-2000:]}")

    def _run(self, line: str, typed: list[tuple[str, bytes]]) -> None:
        program, *arguments = shlex.split(line)
        if program != "agents":
            raise AssertionError(f"`{program}` is not the program under test")
        controller, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, _SIZE)
        process = subprocess.Popen(
            # In a new session with this terminal, so that Ctrl-C reaches the command.
            ["setsid", "--ctty", "--wait", self.cli.command, *arguments],
            cwd=self.cli.place / "repository",
            env={**self.cli.environment, "TERM": "xterm"},
            stdin=follower,
            stdout=follower,
            stderr=follower,
        )
        os.close(follower)
        try:
            self._drawn = _conversation(controller, typed)
        finally:
            os.close(controller)
            self.cli.exit_code = process.wait(WAIT_SECONDS)
        logger.info(f"{line}\nexit {self.cli.exit_code}\n{self._drawn}")


def _conversation(controller: int, typed: list[tuple[str, bytes]]) -> str:
    """Types each answer after its question has appeared; returns all that was drawn."""
    text, seen = "", 0
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        if not select.select([controller], [], [], deadline - time.monotonic())[0]:
            raise AssertionError(f"The command has not ended:\n{text[-2000:]}")
        try:
            chunk = os.read(controller, 65536)
        except OSError:  # Nobody has the terminal open any more.
            return text
        if not chunk:
            return text
        text += chunk.decode(errors="replace")
        while typed and typed[0][0] in text[seen:]:
            awaited, keys = typed.pop(0)
            seen = text.index(awaited, seen) + len(awaited)
            os.write(controller, keys)
