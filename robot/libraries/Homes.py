"""Home directories that are moved and copied, and databases that come from a backup."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from robot.api.deco import keyword, library
from robot.libraries.BuiltIn import BuiltIn


@library(scope="TEST", auto_keywords=False)
class Homes:
    """Acts on the home directory of the program by other means than the program."""

    def __init__(self) -> None:
        self._original: Path | None = None
        self._before = ""

    @property
    def cli(self) -> Any:
        return BuiltIn().get_library_instance("AgentsCli")

    @property
    def _home(self) -> Path:
        return Path(self.cli.environment["CLEVERAGENTS_HOME"])

    @keyword("The Home Was Moved")
    def move(self) -> None:
        self._use(self._home.rename(self.cli.place / "moved-home"))

    @keyword("The Home Was Copied")
    def copy(self) -> None:
        self._original = self._home
        self._before = _sums(self._original)
        copy = self.cli.place / "copied-home"
        subprocess.run(["cp", "-a", str(self._original), str(copy)], check=True)
        self._use(copy)

    @keyword("The Original Is As It Was")
    def original_is_as_it_was(self) -> None:
        assert self._original is not None
        assert _sums(self._original) == self._before

    @keyword("The Sandbox In This Home Has")
    def sandbox_has(self, name: str) -> None:
        [found] = self._home.glob("sandboxes/*/project")
        assert (found / name).exists(), found

    @keyword("The Database Was Backed Up")
    def back_up(self) -> None:
        shutil.copyfile(self._home / "state.db", self.cli.place / "backup.db")

    @keyword("The Database Was Restored")
    def restore(self) -> None:
        for suffix in ("-wal", "-shm"):
            (self._home / f"state.db{suffix}").unlink(missing_ok=True)
        shutil.copyfile(self.cli.place / "backup.db", self._home / "state.db")

    def _use(self, home: Path) -> None:
        self.cli.environment["CLEVERAGENTS_HOME"] = str(home)


def _sums(home: Path) -> str:
    """Returns the checksums of everything in mirrors and sandboxes."""
    command = "find mirrors sandboxes -type f -print0 | sort -z | xargs -0 sha256sum"
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=home, capture_output=True, text=True, check=True
    )
    return done.stdout
