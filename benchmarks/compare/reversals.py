"""Taking a change back and bringing it again: with a technique, or with the command line."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.compare.exactness import Entry, Fingerprint, Witness
from benchmarks.compare.technique import Technique


class Reversal(ABC):
    """One change, there and back and there again."""

    root: Path
    """Where the change is made."""

    @abstractmethod
    def capture(self) -> None:
        """Captures what is there before the change."""

    @abstractmethod
    def change(self, script: str, environment: Mapping[str, str]) -> None:
        """Runs the script that makes the change, and captures what is there then."""

    @abstractmethod
    def take_back(self) -> None:
        """Restores what was captured before the change."""

    @abstractmethod
    def bring_again(self) -> bool:
        """Restores what was there after it; returns False if there is no way to."""

    def look(self) -> Fingerprint:
        """Looks at what is there now."""
        return Witness(self.root).fingerprint()

    def close(self) -> None:
        return None


def through(kind: type[Technique]) -> Callable[[Path, Path], Reversal]:
    """Returns what makes a reversal with a technique."""
    return lambda origin, store: _ThroughTechnique(kind(origin, store))


class _ThroughTechnique(Reversal):
    def __init__(self, technique: Technique) -> None:
        self._technique = technique
        self.root = technique.root

    def capture(self) -> None:
        self._before = self._technique.first()

    def change(self, script: str, environment: Mapping[str, str]) -> None:
        subprocess.run(["sh", "-c", script], cwd=self.root, env=environment, check=True)
        if self._technique.snapshots_after_change:
            self._after = self._technique.snapshot()

    def take_back(self) -> None:
        self._technique.restore(self._before)

    def bring_again(self) -> bool:
        if self._technique.snapshots_after_change:
            self._technique.restore(self._after)
        return self._technique.snapshots_after_change

    def close(self) -> None:
        self._technique.close()


class SessionInPlace(Reversal):
    """`agents run -i`, `agents rollback` and `agents undo`, as a user types them."""

    isolation = "in-place"

    def __init__(self, origin: Path, store: Path) -> None:
        self.root = origin
        self._environment = {**os.environ, "CLEVERAGENTS_HOME": str(store)}

    def capture(self) -> None:
        """Leaves that to `agents run`."""

    def change(self, script: str, environment: Mapping[str, str]) -> None:
        self._environment |= environment
        self._agents("run", "--isolation", self.isolation, "--", "sh", "-c", script)

    def take_back(self) -> None:
        self._agents("rollback", "@first", "--yes")

    def bring_again(self) -> bool:
        self._agents("undo", "--yes")
        return True

    def _agents(self, *arguments: str) -> bytes:
        command = [sys.executable, "-m", "cleveragents", *arguments]
        done = subprocess.run(
            command,
            cwd=self.root,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
        return done.stdout


class PrivateSession(SessionInPlace):
    """The same in a private view, which is looked at from inside."""

    isolation = "private"
    _has_begun = False

    def change(self, script: str, environment: Mapping[str, str]) -> None:
        super().change(script, environment)
        self._has_begun = True

    def look(self) -> Fingerprint:
        if not self._has_begun:
            return super().look()
        self._environment["PYTHONPATH"] = str(Path(__file__).parents[2])
        seen = self._agents("enter", "--", sys.executable, "-m", "benchmarks.compare.exactness")
        return {path: Entry(**entry) for path, entry in ast.literal_eval(seen.decode()).items()}
