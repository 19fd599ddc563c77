"""Which paths the project does not want kept: git itself answers, from one resident process."""

from __future__ import annotations

import os
import select
import stat
from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field

from cleveragents.domain.errors import GitCommandError
from cleveragents.domain.sandboxes.patterns import PathPatterns
from cleveragents.infrastructure.sandbox.git.command import Git, GitProcess

_FIELDS = 4
_ASKED_AT_ONCE = 24_000
"""Bytes; with less than a pipe holds, neither side waits for the other forever."""
_OPEN_FIFO = os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


class IgnoreRules:
    """Says which paths are left out of snapshots: none, unless a subclass knows better."""

    def start(self) -> object:
        """Gets ready while something else is done."""

    def learn(self, paths: Iterable[str]) -> None:
        """Finds out about many paths at once, so that asking for each costs nothing."""

    def covers(self, path: str) -> bool:
        """Says whether a path that is there is ignored."""
        del path
        return False

    def settle(self) -> None:
        """Forgets the answers, which hold for what was there; the rules are still good."""

    def forget(self) -> None:
        """Makes sure that rules which have changed are read again."""

    def close(self) -> None:
        """Ends what was started; answers that were given stay until `settle` or `forget`."""


@dataclass
class GitIgnoreRules(IgnoreRules):
    """What git's own rules say in one sandbox."""

    _git: Git
    _root: str
    _process: GitProcess | None = None
    _answers: dict[str, bool] = field(default_factory=dict[str, bool])
    _has_read_rules: bool = False
    _seen: set[str] = field(default_factory=set[str])
    """Directories that were searched for a FIFO called `.gitignore`."""
    _fifos: list[str] = field(default_factory=list[str])

    def start(self) -> GitProcess:
        if self._process is None:
            # `check-ignore` refuses this variable; `./` before each path has the same effect.
            git = self._git.with_variables(GIT_LITERAL_PATHSPECS="0")
            self._process = git.start(
                *("-C", self._root, "check-ignore"),
                *("-z", "--stdin", "--verbose", "--non-matching", "--no-index"),
            )
        return self._process

    def learn(self, paths: Iterable[str]) -> None:
        batch: list[str] = []
        size = 0
        for path in paths:
            if path not in self._answers:
                batch.append(path)
                size += len(path) + 8
            if size > _ASKED_AT_ONCE:
                self._ask(batch)
                batch, size = [], 0
        if batch:
            self._ask(batch)

    def covers(self, path: str) -> bool:
        if path not in self._answers:
            self._ask([path])
        return self._answers[path]

    def forget(self) -> None:
        self.settle()
        if self._has_read_rules:
            self.close()

    def close(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None
        self._has_read_rules = False

    def settle(self) -> None:
        self._answers.clear()
        self._seen.clear()
        self._fifos.clear()

    def _ask(self, paths: Sequence[str]) -> None:
        """Asks about paths; of what git will not speak about, nothing is ignored."""
        asked = b"".join(os.fsencode(f"./{path}") + b"\0" for path in paths)
        try:
            process = self.start()
            self._has_read_rules = True
            with self._fifos_held_open(paths):
                process.stdin.write(asked)
                process.stdin.flush()
                said = self._read(process, len(paths) * _FIELDS)
        except (OSError, EOFError):
            self.close()
            if len(paths) == 1:
                self._answers[paths[0]] = False
                return
            for path in paths:
                self._ask([path])
            return
        for position, path in enumerate(paths):
            source, _, pattern, _ = said[position * _FIELDS : (position + 1) * _FIELDS]
            self._answers[path] = bool(source) and not pattern.startswith(b"!")

    @contextmanager
    def _fifos_held_open(self, paths: Iterable[str]) -> Generator[None]:
        """Lets git read a FIFO called `.gitignore` as an empty file.

        Otherwise git would wait for somebody who writes to it, perhaps forever.
        """
        for path in paths:
            directory = os.path.dirname(path)
            while directory not in self._seen:
                self._seen.add(directory)
                rules = os.path.join(self._root, directory, ".gitignore")
                with suppress(OSError):
                    if stat.S_ISFIFO(os.lstat(rules).st_mode):
                        self._fifos.append(rules)
                directory = os.path.dirname(directory)
        with ExitStack() as opened:
            for rules in self._fifos:
                with suppress(OSError):  # It is gone, or git may not open it either.
                    opened.callback(os.close, os.open(rules, _OPEN_FIFO))
            yield

    def _read(self, process: GitProcess, fields: int) -> list[bytes]:
        """Returns what git says. Raises EOFError when it has ended, GitCommandError if it hangs."""
        said = bytearray()
        missing = fields
        descriptor = process.stdout.fileno()
        waiting = select.poll()  # `select` refuses descriptors from 1,024 on.
        waiting.register(descriptor, select.POLLIN)
        while missing > 0:
            if not waiting.poll(self._git.patience * 1000):
                process.process.kill()
                self.close()
                raise GitCommandError(
                    "git", -1, f"it was still running after {self._git.patience:g} seconds"
                )
            chunk = os.read(descriptor, 1 << 16)
            if not chunk:
                raise EOFError
            said += chunk
            missing -= chunk.count(b"\0")
        return bytes(said).split(b"\0")[:fields]


@dataclass
class SmallIgnoredFilesKept(GitIgnoreRules):
    """Ignores less than git does: only large files, and what a tool can make again.

    Where a command works on the user's own files, nobody else has a copy of `.env` or of a local
    database.
    """

    rebuildable: PathPatterns = field(kw_only=True)
    most: int | None = field(kw_only=True)
    """The size of the largest file that is kept; None keeps all."""

    def covers(self, path: str) -> bool:
        if not super().covers(path):
            return False
        if self.rebuildable.takes(path):
            return True
        try:
            status = os.lstat(f"{self._root}/{path}")
        except OSError:
            return True
        is_file = stat.S_ISREG(status.st_mode)
        return is_file and self.most is not None and status.st_size > self.most
