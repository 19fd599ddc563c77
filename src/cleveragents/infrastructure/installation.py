"""The versions of the program and its parts, and the state of the home directory."""

from __future__ import annotations

import os
import platform
import sqlite3
import stat
from collections.abc import Mapping
from pathlib import Path

import cleveragents
from cleveragents.application.ports.maintenance import Installation
from cleveragents.domain.errors import CleverAgentsError
from cleveragents.domain.health.health import PRIVATE_MODE, HomeFacts
from cleveragents.domain.health.home_state import HomeState
from cleveragents.infrastructure.config import global_file
from cleveragents.infrastructure.database.home_records import HomeRecords
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.store.repacking import free_bytes


class ThisInstallation(Installation):
    """This program on this machine, with one home directory."""

    def __init__(self, git: Git, home: Path, records: HomeRecords) -> None:
        self._git = git
        self._home = home
        self._records = records

    def versions(self) -> Mapping[str, str]:
        return {
            "cleveragents": cleveragents.__version__,
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
            "platform": platform.platform(),
        }

    def git_version(self) -> str:
        return self._git.require_version()

    def paths(self) -> Mapping[str, str]:
        return {
            "home": str(self._home),
            "configuration": str(global_file(self._home)),
            "stores": str(self._home / "mirrors"),
            "sandboxes": str(self._home / "sandboxes"),
            "package": str(Path(cleveragents.__file__).parent),
        }

    def home(self) -> HomeFacts | None:
        try:
            status = self._home.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CleverAgentsError(
                f"The home directory {self._home} cannot be inspected: {error.strerror}",
                hint="Grant access to it, or set `CLEVERAGENTS_HOME` to another directory",
            ) from error
        return HomeFacts(
            path=str(self._home),
            is_directory=stat.S_ISDIR(status.st_mode),
            mode=stat.S_IMODE(status.st_mode) & 0o777,
            usable=os.access(
                self._home,
                os.R_OK | os.W_OK | os.X_OK,
                effective_ids=os.access in os.supports_effective_ids,
            ),
            free_bytes=free_bytes(self._home),
        )

    def make_home_private(self) -> None:
        try:
            os.chmod(self._home, PRIVATE_MODE)
        except OSError as error:
            raise CleverAgentsError(
                f"The mode of {self._home} cannot be changed: {error.strerror}",
                hint="Change its owner to the current user",
            ) from error

    def home_state(self) -> HomeState:
        return self._records.state()

    def original_home(self) -> str | None:
        return self._records.original()

    def separate_home(self) -> None:
        self._records.separate()

    def has(self, path: str) -> bool:
        return os.path.lexists(path)
