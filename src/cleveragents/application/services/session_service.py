"""SessionService: makes what a program does in a project reversible.

A session is a plan without steps, with one sandbox. Here it is created, and its result is read; in
between, the process that records it holds it, see `execution.session_recorder`.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.locks import Locks
from cleveragents.application.ports.records import Database
from cleveragents.application.ports.sandboxes import Sandboxes, SnapshotStore
from cleveragents.application.ports.system import Clock, EventSink, FaultPoints, IdSource
from cleveragents.application.services.checkpoint_service import CheckpointService, Milestone
from cleveragents.application.services.checkpoints.group_recorder import snapshot_ids
from cleveragents.application.services.execution.sandbox_setup import SandboxSetup
from cleveragents.application.services.execution.session_end import SessionEnd
from cleveragents.domain.checkpoints.checkpoint import CheckpointType
from cleveragents.domain.decisions.decision import prompt_of
from cleveragents.domain.errors import NoCheckpointError
from cleveragents.domain.plans.plan import Plan, PlanAction, PlanPhase, PlanState
from cleveragents.domain.plans.plan_file import PlanDefinition, ResourceDefinition
from cleveragents.domain.plans.session import (
    Isolation,
    SessionRecord,
    session_strategy,
)
from cleveragents.domain.sandboxes.change import PathChange
from cleveragents.domain.sandboxes.resource import (
    ResourceType,
    SandboxStrategy,
    default_strategy,
)
from cleveragents.domain.sandboxes.sandbox import (
    ProjectFacts,
    Resource,
    SandboxRef,
)

_RESOURCE = "project"


class SessionResult(msgspec.Struct, frozen=True):
    """What a session left."""

    plan: Plan
    changes: Sequence[PathChange]
    """How the files differ from what they were at the start."""
    checkpoints: int


@dataclass(frozen=True)
class EnteredSandbox:
    """The sandbox of a plan that a command is about to run in."""

    sandbox: SandboxRef
    _sandboxes: Sandboxes

    @property
    def is_private_view(self) -> bool:
        return self.sandbox.strategy is SandboxStrategy.PRIVATE_VIEW

    def show(self) -> None:
        """Shows a private view at the project's path; called by the child for the command."""
        self._sandboxes.enter([self.sandbox])
        self._sandboxes.show_at_project(self.sandbox, os.getpid())


class SessionService:
    """Creates sessions, and says what they did."""

    def __init__(
        self,
        database: Database,
        checkpoints: CheckpointService,
        session_end: SessionEnd,
        sandboxes: Sandboxes,
        snapshots: SnapshotStore,
        locks: Locks,
        clock: Clock,
        id_source: IdSource,
        events: EventSink,
        faults: FaultPoints,
    ) -> None:
        self._database = database
        self._checkpoints = checkpoints
        self._session_end = session_end
        self._sandboxes = sandboxes
        self._locks = locks
        self._clock = clock
        self._ids = id_source
        self._faults = faults
        self._workplace = SandboxSetup(database, sandboxes, snapshots, id_source, events, faults)

    def create(
        self, project: Path, command: Sequence[str], isolation: Isolation, name: str | None
    ) -> tuple[Plan, SandboxRef]:
        """Creates a session with its sandbox; the command must not start before it is recorded.

        If that fails, the session is cancelled, and nothing of the project was changed.

        Args:
            project: The project, or a directory in it.
            command: What will run.
            isolation: Where it will work.
            name: What the session is called; None for the name of the command.

        Raises:
            ViewUnavailableError: a private view is not possible here.
            ProjectRefusedError: the project cannot be used in this way.
        """
        facts = self._facts(project, isolation)
        if isolation is Isolation.PRIVATE:
            self._sandboxes.refuse_view(Path(facts.root))
        plan = self._new(facts, command, isolation, name or Path(command[0]).name)
        with self._locks.hold(plan.id) as lease:
            try:
                (sandbox,) = self._workplace.ready(lease)
            except BaseException as error:
                self._session_end.call_off(plan.id, str(error) or type(error).__name__)
                raise
        self._faults.reach(FaultPoint.SESSION_CREATED)
        return plan, sandbox

    @contextmanager
    def entered(self, plan_id: str) -> Generator[EnteredSandbox]:
        """Yields the sandbox in which a command may run meanwhile.

        What it changes becomes a checkpoint: here, or by the process that records the session.

        Raises:
            ConflictError: another process holds the plan.
            SandboxMissingError: there is no sandbox.
        """
        with self._database.read() as transaction:
            plan = transaction.plans.get(plan_id)
            sandboxes = transaction.sandboxes.list(plan_id)
        if not sandboxes:
            raise plan.refusal("be entered: it has no sandbox yet")
        self._sandboxes.check(sandboxes[0])
        entered = EnteredSandbox(sandboxes[0], self._sandboxes)
        if plan.is_running_session:
            yield entered
            return
        with self._locks.hold(plan_id) as lease:
            yield entered
            with self._database.read() as transaction:
                last = transaction.plans.get(plan_id).last_checkpoint_id
                before = transaction.checkpoints.group_of(last).snapshots if last else {}
            taken = self._checkpoints.take(lease)
            if snapshot_ids(taken) == before:
                return
            moment = Milestone(
                CheckpointType.MANUAL,
                label="after `agents enter`",
                reason="a command ran in the sandbox",
                step_index=max(plan.last_completed_step, 0),
            )
            self._checkpoints.create_as_required(lease, plan, moment, taken=taken)

    def show_view(self, sandbox: SandboxRef, process: int) -> None:
        """Shows the private view that a process uses to the child that becomes the command.

        Raises OSError if that is not possible.
        """
        self._sandboxes.show_at_project(sandbox, process)

    def result(self, plan_id: str) -> SessionResult:
        """Returns what a session changed between its start and its last checkpoint.

        Raises:
            NoCheckpointError: it has none.
        """
        with self._database.read() as transaction:
            plan = transaction.plans.get(plan_id)
            sandboxes = transaction.sandboxes.list(plan_id)
            if plan.last_checkpoint_id is None:
                raise NoCheckpointError(plan_id)
            group = transaction.checkpoints.group_of(plan.last_checkpoint_id)
            checkpoints = len(transaction.checkpoints.list(plan_id))
        start = self._checkpoints.start(plan_id)
        found = self._checkpoints.changes_between(sandboxes, start, group.snapshots)
        changes = [change for _, of_sandbox in found for change in of_sandbox]
        return SessionResult(plan, changes, checkpoints)

    def _facts(self, project: Path, isolation: Isolation) -> ProjectFacts:
        found = self._sandboxes.inspect_in_place(project)
        if isolation is Isolation.COPY and found.type is ResourceType.GIT_CHECKOUT:
            return self._sandboxes.inspect(Path(found.root))  # A worktree cannot hold every kind.
        return found

    def _new(
        self, facts: ProjectFacts, command: Sequence[str], isolation: Isolation, name: str
    ) -> Plan:
        """Stores a session that runs, with its one resource."""
        plan_id, now = self._ids.new(), self._clock.now()
        strategy = session_strategy(isolation, default_strategy(facts.type))
        wanted = ResourceDefinition(type=facts.type, path=facts.root)
        definition = PlanDefinition(name=name, resources={_RESOURCE: wanted}, steps=[])
        prompt = prompt_of(plan_id, self._ids.new(), name, [_RESOURCE], 0, None, now)
        plan = Plan(
            id=plan_id,
            name=name,
            project=facts.root,
            project_key=facts.key,
            plan_file="",
            definition=definition,
            arguments={},
            phase=PlanPhase.STRATEGIZE,
            state=PlanState.QUEUED,
            attempt=1,
            last_completed_step=-1,
            last_checkpoint_id=None,
            decision_root_id=prompt.id,
            error=None,
            created_at=now,
            updated_at=now,
            started_at=now,
            finished_at=None,
            session=SessionRecord(isolation=isolation, command=tuple(command)),
        )
        for action in (PlanAction.STRATEGIZE, PlanAction.FINISH, PlanAction.EXECUTE):
            plan = plan.after(action, now)
        resource = Resource(
            id=self._ids.new(),
            plan_id=plan_id,
            name=_RESOURCE,
            type=facts.type,
            strategy=strategy,
            path=facts.root,
            position=0,
            # The command expects the files as they are.
            include_uncommitted=facts.type is ResourceType.GIT_CHECKOUT,
        )
        with self._database.write(plan_id) as transaction:
            transaction.plans.add(plan)
            transaction.sandboxes.add_resource(resource)
            transaction.decisions.add(prompt)
        return plan
