"""AllTargets: every kind of resource that a plan's result can be brought into."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from cleveragents.application.ports import FaultPoints, Targets
from cleveragents.domain.apply import ApplyRequest, Target, TargetRefusedError, TargetWork
from cleveragents.domain.errors import CleverAgentsError, SnapshotError
from cleveragents.domain.resource import ResourceType, SandboxStrategy
from cleveragents.infrastructure.sandbox.apply_journal import ApplyJournal
from cleveragents.infrastructure.sandbox.blobs import blob_reader
from cleveragents.infrastructure.sandbox.git import Git
from cleveragents.infrastructure.sandbox.git_planning import plan_git
from cleveragents.infrastructure.sandbox.git_target import GitTarget
from cleveragents.infrastructure.sandbox.layout import git_on_mirror
from cleveragents.infrastructure.sandbox.store_lock import StoreUse


class AllTargets(Targets):
    """Chooses by the type of the resource; each act reads the journal that `plan` kept."""

    def __init__(self, git: Git, home: Path, faults: FaultPoints) -> None:
        self._git = git
        self._home = home
        self._faults = faults

    def plan(self, work: TargetWork, request: ApplyRequest) -> Target:
        if work.sandbox.strategy is SandboxStrategy.NONE:
            return _untouched(work)  # It was worked on itself: all of it is there.
        if work.resource.type is not ResourceType.GIT_CHECKOUT:
            raise TargetRefusedError(
                work.resource.path, f"this version applies no `{work.resource.type}` resource yet"
            )
        try:
            return plan_git(self._git, self._home, work, request)
        except OSError as error:
            raise SnapshotError(
                f"What is to become of {work.resource.path} could not be found out: {error}",
                hint="Make room in the home directory of CleverAgents, or give permission",
            ) from error

    def lock(self, target: Target) -> None:
        with self._opened(target) as repository:
            repository.lock()

    def write(self, target: Target) -> None:
        with self._opened(target) as repository:
            repository.write()

    def settle(self, target: Target) -> None:
        with self._opened(target) as repository:
            repository.settle()

    def undo(self, target: Target) -> None:
        with self._opened(target) as repository:
            repository.undo()

    def finish(self, target: Target) -> None:
        with suppress(CleverAgentsError, OSError), self._opened(target) as repository:
            repository.finish()

    @contextmanager
    def _opened(self, target: Target) -> Generator[GitTarget]:
        store = Path(target.store)
        with closing(StoreUse(store)):
            with blob_reader(git_on_mirror(self._git, store)) as objects:
                journal = ApplyJournal.load(objects.read(target.document))
            git_dir = journal.git_dir or journal.root / ".git"
            room = self._home / "applies" / journal.plan_id / target.resource
            with closing(
                GitTarget(self._git, target, journal, git_dir, room, self._faults)
            ) as repository:
                yield repository


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
