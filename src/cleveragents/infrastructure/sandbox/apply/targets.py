"""AllTargets: every kind of resource that a plan's result can be brought into."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Protocol, assert_never

from cleveragents.application.ports.system import FaultPoints
from cleveragents.application.ports.targets import Targets
from cleveragents.domain.errors import (
    CleverAgentsError,
    TargetRefusedError,
)
from cleveragents.domain.plans.apply import ApplyMode, ApplyRequest, Target, TargetWork
from cleveragents.domain.sandboxes.resource import ResourceType, SandboxStrategy
from cleveragents.infrastructure.sandbox.apply.directory_target import (
    DirectoryTarget,
    plan_directory,
)
from cleveragents.infrastructure.sandbox.apply.git_plan import plan_git
from cleveragents.infrastructure.sandbox.apply.git_target import GitTarget
from cleveragents.infrastructure.sandbox.apply.journal import ApplyJournal
from cleveragents.infrastructure.sandbox.apply.sqlite_target import SqliteTarget, plan_database
from cleveragents.infrastructure.sandbox.create.maker import sandbox_place
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.layout import git_on_mirror
from cleveragents.infrastructure.sandbox.store.blobs import blob_reader
from cleveragents.infrastructure.sandbox.store.drafts import scratch
from cleveragents.infrastructure.sandbox.store.lock import MirrorUse


class _TargetActions(Protocol):
    """What can be done with one resource; `Targets` says what each act must keep to."""

    def lock(self) -> None: ...

    def write(self) -> None: ...

    def settle(self) -> None: ...

    def undo(self) -> None: ...

    def finish(self) -> None: ...

    def close(self) -> None: ...


class AllTargets(Targets):
    """Chooses by the type of the resource; each act reads the journal that `plan` kept."""

    def __init__(self, git: Git, home: Path, faults: FaultPoints) -> None:
        self._git = git
        self._home = home
        self._faults = faults

    def plan(self, work: TargetWork, request: ApplyRequest) -> Target:
        if _is_nothing(work, request):
            return _untouched(work)
        place = sandbox_place(self._home, work.plan_id, work.resource.name)
        with (
            _translated(work.resource.path),
            closing(MirrorUse(Path(work.sandbox.store))),
            scratch(place) as room,
        ):
            match work.resource.type:
                case ResourceType.GIT_CHECKOUT:
                    return plan_git(self._git, room, work, request)
                case ResourceType.FS_DIRECTORY:
                    return plan_directory(self._git, work, request)
                case ResourceType.SQLITE:
                    return plan_database(self._git, room, work, request)
                case _ as never:
                    assert_never(never)

    def lock(self, target: Target) -> None:
        self._do(target, lambda resource: resource.lock())

    def write(self, target: Target) -> None:
        self._do(target, lambda resource: resource.write())

    def settle(self, target: Target) -> None:
        self._do(target, lambda resource: resource.settle())

    def undo(self, target: Target) -> None:
        self._do(target, lambda resource: resource.undo())

    def finish(self, target: Target) -> None:
        with suppress(CleverAgentsError):
            self._do(target, lambda resource: resource.finish())

    def _do(self, target: Target, act: Callable[[_TargetActions], None]) -> None:
        store = Path(target.store)
        with _translated(target.path), closing(MirrorUse(store)):
            with blob_reader(git_on_mirror(self._git, store)) as objects:
                journal = ApplyJournal.load(objects.read(target.document))
            place = sandbox_place(self._home, journal.plan_id, target.resource)
            with (
                scratch(place) as room,
                closing(self._acts(target, journal, place, room)) as resource,
            ):
                act(resource)

    def _acts(
        self, target: Target, journal: ApplyJournal, place: Path, room: Path
    ) -> _TargetActions:
        if journal.git_dir is not None and journal.move is not None:
            place, move = journal.git_dir, journal.move
            return GitTarget(self._git, target, journal, place, move, room, self._faults)
        if journal.database is not None:
            return SqliteTarget(self._git, target, journal, journal.database, room)
        return DirectoryTarget(self._git, target, journal, place, self._faults)


def _is_nothing(work: TargetWork, request: ApplyRequest) -> bool:
    """Says whether a resource stays as it is: the plan changed nothing, or all of it is there."""
    if work.sandbox.strategy is SandboxStrategy.NONE:
        return True
    branches = request.mode is ApplyMode.BRANCH and work.resource.type is ResourceType.GIT_CHECKOUT
    return not work.changes and not branches


def _untouched(work: TargetWork) -> Target:
    return Target(
        resource_id=work.resource.id,
        resource=work.resource.name,
        type=work.resource.type,
        path=work.resource.path,
        store="",
        document="",
        files=(),
    )


@contextmanager
def _translated(path: str) -> Generator[None]:
    """Says what a full disk or a missing permission means for an apply."""
    try:
        yield
    except OSError as error:
        raise TargetRefusedError(
            path,
            f"something cannot be read or written: {error}",
            hint="Make room or give permission, then apply again",
        ) from error
