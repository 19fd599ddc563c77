"""Sandboxes of SQLite databases: private copies, consistent also while others write."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

from cleveragents.application.ports.system import Clock
from cleveragents.domain.errors import ConflictError, ProjectRefusedError, SandboxMissingError
from cleveragents.domain.sandboxes.resource import ResourceType, SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import Resource, SandboxRef
from cleveragents.infrastructure.sandbox.create.maker import (
    SandboxMaker,
    creation_errors,
    make_again,
    new_sandbox,
    require_directory,
)
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.repository import store_key
from cleveragents.infrastructure.sandbox.sqlite.files import (
    PATIENCE_SECONDS,
    DatabaseBusyError,
    DatabaseDamagedError,
    copy_database,
)
from cleveragents.infrastructure.sandbox.store.directories import (
    drafted,
    reclaim,
    remove_tree,
    remove_with_parent,
    sandbox_place,
)
from cleveragents.infrastructure.sandbox.store.mirror import ensure_store


class SqliteSandboxes(SandboxMaker):
    """Makes and removes directories that each hold the copy of one database.

    The sandbox's path is the copy itself, which has the name of the original.
    """

    def __init__(
        self, git: Git, home: Path, clock: Clock, patience: float = PATIENCE_SECONDS
    ) -> None:
        self._git = git
        self._home = home
        self._clock = clock
        self._patience = patience

    def create(self, sandbox_id: str, plan_id: str, resource: Resource) -> SandboxRef:
        source = Path(resource.path)
        place = sandbox_place(self._home, plan_id, resource.name)
        with creation_errors():
            reclaim(place.parent.parent)
            key = store_key(source, ResourceType.SQLITE)
            store = ensure_store(self._git, self._home / "mirrors", key)
            remove_tree(place)  # What a killed attempt may have left: there is no record of it.
            with drafted(place) as draft:
                self._copy(source, draft / source.name)
        return new_sandbox(
            sandbox_id,
            plan_id,
            resource,
            SandboxStrategy.TRANSACTION_ROLLBACK,
            place / source.name,
            store,
            self._clock.now(),
        )

    def check(self, sandbox: SandboxRef) -> None:
        """The database itself may be missing: a rollback puts it back."""
        try:
            require_directory(Path(sandbox.path).parent)
        except SandboxMissingError as error:
            raise SandboxMissingError(sandbox.path, "is missing") from error

    def reopen(self, sandbox: SandboxRef) -> None:
        make_again(Path(sandbox.path).parent)

    def remove(self, sandbox: SandboxRef) -> None:
        place = Path(sandbox.path).parent
        remove_with_parent(place)

    def _copy(self, source: Path, target: Path) -> None:
        try:
            copy_database(source, target, self._patience)
            os.chmod(target, stat.S_IMODE(source.stat().st_mode))
        except FileNotFoundError as error:
            raise ProjectRefusedError(str(source), "there is no such file") from error
        except DatabaseBusyError as error:
            raise ConflictError(
                f"The database {source} is locked by another program: {error}",
                hint="Try again when its transaction has ended",
                path=str(source),
            ) from error
        except DatabaseDamagedError as error:
            raise ProjectRefusedError(str(source), f"SQLite cannot read it: {error}") from error
        except sqlite3.Error as error:
            raise OSError(f"{source} cannot be copied: {error}") from error
