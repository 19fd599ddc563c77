"""Sandboxes of directories: private copies."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from cleveragents.application.ports.system import Clock
from cleveragents.domain.sandboxes.resource import ResourceType, SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import Resource, SandboxRef
from cleveragents.infrastructure.sandbox.create.maker import (
    SandboxMaker,
    creation_errors,
    make_again,
    new_sandbox,
    require_directory,
)
from cleveragents.infrastructure.sandbox.create.tree_copy import TreeCopy
from cleveragents.infrastructure.sandbox.files.tracker import STATE, note_path
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.repository import store_key
from cleveragents.infrastructure.sandbox.store.directories import (
    drafted,
    reclaim,
    remove_tree,
    remove_with_parent,
    sandbox_place,
)
from cleveragents.infrastructure.sandbox.store.mirror import ensure_store


class DirectorySandboxes(SandboxMaker):
    """Makes and removes copies of directories under one home directory."""

    def __init__(self, git: Git, home: Path, clock: Clock) -> None:
        self._git = git
        self._home = home
        self._clock = clock

    def create(self, sandbox_id: str, plan_id: str, resource: Resource) -> SandboxRef:
        source = Path(resource.path)
        place = sandbox_place(self._home, plan_id, resource.name)
        with creation_errors():
            reclaim(place.parent.parent)
            key = store_key(source, ResourceType.FS_DIRECTORY)
            store = ensure_store(self._git, self._home / "mirrors", key)
            remove_tree(place)  # What a killed attempt may have left: there is no record of it.
            with drafted(place) as draft:
                copy = TreeCopy(source, draft)
                copy.run()
        return replace(
            new_sandbox(
                sandbox_id,
                plan_id,
                resource,
                SandboxStrategy.FILESYSTEM_COPY,
                place,
                store,
                self._clock.now(),
            ),
            copied_by=copy.method,
            skipped=copy.skipped,
        )

    def check(self, sandbox: SandboxRef) -> None:
        require_directory(Path(sandbox.path))

    def reopen(self, sandbox: SandboxRef) -> None:
        make_again(Path(sandbox.path))
        with creation_errors():
            note_path(sandbox, STATE).unlink(missing_ok=True)  # It describes what is gone.

    def remove(self, sandbox: SandboxRef) -> None:
        place = Path(sandbox.path)
        remove_with_parent(place)
