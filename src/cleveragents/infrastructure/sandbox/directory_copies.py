"""Sandboxes of directories: private copies."""

from __future__ import annotations

from pathlib import Path

from cleveragents.application.ports import Clock
from cleveragents.domain.resource import ResourceType, SandboxStrategy
from cleveragents.domain.sandbox import Resource, SandboxRef, SandboxState
from cleveragents.infrastructure.sandbox.drafts import drafted, reclaim
from cleveragents.infrastructure.sandbox.git import Git
from cleveragents.infrastructure.sandbox.maker import (
    SandboxMaker,
    creation_errors,
    make_again,
    remove_if_empty,
    require_directory,
    sandbox_place,
)
from cleveragents.infrastructure.sandbox.mirror import ensure_store
from cleveragents.infrastructure.sandbox.project import store_key
from cleveragents.infrastructure.sandbox.removal import remove_tree
from cleveragents.infrastructure.sandbox.tree_copy import TreeCopy


class DirectoryCopies(SandboxMaker):
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
        return SandboxRef(
            id=sandbox_id,
            plan_id=plan_id,
            resource_id=resource.id,
            resource=resource.name,
            strategy=SandboxStrategy.FILESYSTEM_COPY,
            path=str(place),
            branch=None,
            store=str(store),
            base_commit=None,
            state=SandboxState.CREATED,
            created_at=self._clock.now(),
            copied_by=copy.method,
            skipped=copy.skipped,
        )

    def check(self, sandbox: SandboxRef) -> None:
        require_directory(Path(sandbox.path))

    def reopen(self, sandbox: SandboxRef) -> None:
        make_again(Path(sandbox.path))

    def remove(self, sandbox: SandboxRef) -> None:
        place = Path(sandbox.path)
        remove_tree(place)
        remove_if_empty(place.parent)
