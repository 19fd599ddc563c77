"""AllSandboxes: every way of isolating a resource behind the one port."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import assert_never

from cleveragents.application.ports.sandboxes import Sandboxes
from cleveragents.application.ports.system import Clock
from cleveragents.domain.errors import SnapshotError
from cleveragents.domain.plans.origin import SandboxOrigin
from cleveragents.domain.sandboxes.resource import ResourceType, SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import ProjectFacts, Resource, SandboxRef, SharedPlace
from cleveragents.infrastructure.sandbox.checkpoint import CheckpointManager
from cleveragents.infrastructure.sandbox.create.directory import DirectorySandboxes
from cleveragents.infrastructure.sandbox.create.in_place import (
    InPlaceSandboxes,
    inspect_in_place,
)
from cleveragents.infrastructure.sandbox.create.inspection import (
    ProjectInspection,
    inspect_database,
    inspect_directory,
)
from cleveragents.infrastructure.sandbox.create.maker import SandboxMaker, creation_errors
from cleveragents.infrastructure.sandbox.create.origins import write_origin
from cleveragents.infrastructure.sandbox.create.overlaps import shared_places
from cleveragents.infrastructure.sandbox.create.overlays import OverlaySandboxes
from cleveragents.infrastructure.sandbox.create.private_view import PrivateViewSandboxes
from cleveragents.infrastructure.sandbox.create.view_probe import refuse_view
from cleveragents.infrastructure.sandbox.create.worktree import WorktreeSandboxes
from cleveragents.infrastructure.sandbox.files.views import Layer, enter, show_at_project
from cleveragents.infrastructure.sandbox.forks import ForkOrigin, SandboxForks
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.no_isolation import NoIsolation
from cleveragents.infrastructure.sandbox.sqlite.copies import SqliteSandboxes
from cleveragents.infrastructure.sandbox.store.directories import (
    reclaim,
    remove_notes,
    sandbox_place,
)


class AllSandboxes(Sandboxes):
    """Looks at resources by their type, and leaves their sandboxes to the maker they chose."""

    def __init__(self, git: Git, home: Path, clock: Clock, snapshots: CheckpointManager) -> None:
        self._git = git
        self._home = home
        self._worktrees = WorktreeSandboxes(git, home, clock)
        self._makers: Mapping[SandboxStrategy, SandboxMaker] = {
            SandboxStrategy.GIT_WORKTREE: self._worktrees,
            SandboxStrategy.FILESYSTEM_COPY: DirectorySandboxes(git, home, clock),
            SandboxStrategy.TRANSACTION_ROLLBACK: SqliteSandboxes(git, home, clock),
            SandboxStrategy.OVERLAY: OverlaySandboxes(git, home, clock),
            SandboxStrategy.IN_PLACE: InPlaceSandboxes(git, home, clock),
            SandboxStrategy.PRIVATE_VIEW: PrivateViewSandboxes(git, home, clock),
            SandboxStrategy.NONE: NoIsolation(clock),
        }
        self._forks = SandboxForks(git, home, clock, snapshots, self._makers)

    def project_root(self, path: Path) -> str:
        return str(self._worktrees.find(path).root)

    def inspect(self, path: Path, kind: ResourceType = ResourceType.GIT_CHECKOUT) -> ProjectFacts:
        match kind:
            case ResourceType.GIT_CHECKOUT:
                return self._worktrees.inspect(path)
            case ResourceType.FS_DIRECTORY:
                return inspect_directory(path, self._surroundings())
            case ResourceType.SQLITE:
                return inspect_database(path, self._surroundings())
            case _ as never:
                assert_never(never)

    def inspect_in_place(self, path: Path) -> ProjectFacts:
        return inspect_in_place(path, self._git, self._surroundings())

    def refuse_view(self, project: Path) -> None:
        refuse_view(project, self._home.resolve())

    def show_at_project(self, sandbox: SandboxRef, process: int) -> None:
        show_at_project(sandbox, process)

    def enter(self, sandboxes: Sequence[SandboxRef]) -> None:
        for sandbox in sandboxes:
            is_view = sandbox.strategy is SandboxStrategy.PRIVATE_VIEW
            if is_view and Layer.of(sandbox).is_whole:
                enter(sandbox)

    def shared_places(self, resources: Sequence[Resource]) -> Mapping[str, SharedPlace]:
        return shared_places(resources, self._git)

    def create(self, sandbox_id: str, plan_id: str, resource: Resource) -> SandboxRef:
        if resource.type is not ResourceType.GIT_CHECKOUT:
            self.inspect(Path(resource.path), resource.type)  # It may have changed since.
        return self._makers[resource.strategy].create(sandbox_id, plan_id, resource)

    def fork(
        self,
        sandbox_id: str,
        plan_id: str,
        resource: Resource,
        source: SandboxRef,
        snapshot_id: str,
    ) -> SandboxRef:
        return self._forks.fork(sandbox_id, plan_id, resource, ForkOrigin(source, snapshot_id))

    def note_origin(self, origin: SandboxOrigin) -> None:
        if origin.sandbox.strategy.is_private:
            with creation_errors():
                sandbox = origin.sandbox
                write_origin(sandbox_place(self._home, sandbox.plan_id, sandbox.resource), origin)

    def is_there(self, plan_id: str, resource: str) -> bool:
        return os.path.lexists(sandbox_place(self._home, plan_id, resource))

    def check(self, sandbox: SandboxRef) -> None:
        self._makers[sandbox.strategy].check(sandbox)

    def reopen(self, sandbox: SandboxRef) -> None:
        self._makers[sandbox.strategy].reopen(sandbox)

    def remove(self, sandbox: SandboxRef) -> None:
        try:
            self._makers[sandbox.strategy].remove(sandbox)
            remove_notes(sandbox_place(self._home, sandbox.plan_id, sandbox.resource))
            reclaim(self._home / "sandboxes")
        except OSError as error:
            raise SnapshotError(
                f"The sandbox {sandbox.path} could not be removed: {error.strerror or error}",
                hint="Give permission, then run `agents gc`",
            ) from error

    def _surroundings(self) -> ProjectInspection:
        home = self._git.environment.get("HOME")
        return ProjectInspection(Path(home).resolve() if home else None, self._home.resolve())
