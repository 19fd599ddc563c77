"""SessionService: makes what a program does in a project reversible.

A session is a plan without steps. It gets one sandbox, a checkpoint before the program starts and
one after it has ended; in between, this process holds the plan.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec.structs import replace

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.locks import Locks, PlanLease
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.sandboxes import Sandboxes, SnapshotStore
from cleveragents.application.ports.system import Clock, EventSink, FaultPoints, IdSource
from cleveragents.application.services.apply.sandbox_removal import (
    SandboxRemoval,
    give_up_sandboxes,
)
from cleveragents.application.services.checkpoint_service import CheckpointService, Milestone
from cleveragents.application.services.execution.sandbox_setup import SandboxSetup
from cleveragents.application.services.execution.session_end import SessionEnd
from cleveragents.domain.checkpoints.checkpoint import CheckpointType
from cleveragents.domain.decisions.decision import prompt_of
from cleveragents.domain.plans.plan import Plan, PlanAction, PlanPhase, PlanState
from cleveragents.domain.plans.plan_file import PlanDefinition, ResourceDefinition
from cleveragents.domain.plans.session import (
    Isolation,
    SessionRecord,
    SessionTrigger,
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
    SandboxState,
)

_RESOURCE = "project"


class SessionResult(msgspec.Struct, frozen=True):
    """What a session left."""

    plan: Plan
    changes: Sequence[PathChange]
    """How the files differ from what they were at the start."""
    checkpoints: int


class RunningSession:
    """A session whose first checkpoint is made; its command may run."""

    def __init__(
        self,
        lease: PlanLease,
        plan: Plan,
        sandbox: SandboxRef,
        end: SessionEnd,
        sandboxes: Sandboxes,
    ) -> None:
        self._lease = lease
        self._end = end
        self._sandboxes = sandboxes
        self.plan = plan
        self.sandbox = sandbox

    @property
    def is_private_view(self) -> bool:
        return self.sandbox.strategy is SandboxStrategy.PRIVATE_VIEW

    @property
    def place(self) -> str:
        """Where the command sees the project."""
        return self.plan.project if self.is_private_view else self.sandbox.path

    def show_at_project(self) -> None:
        """Shows the view at the project's path; called by the child that becomes the command."""
        self._sandboxes.show_at_project(self.sandbox)

    def end(self, exit_code: int) -> None:
        """Records that the command has ended."""
        self._end.record(self._lease, self.plan, exit_code, "the command has ended")


class SessionService:
    """Starts and ends sessions."""

    def __init__(
        self,
        database: Database,
        checkpoints: CheckpointService,
        session_end: SessionEnd,
        sandboxes: Sandboxes,
        snapshots: SnapshotStore,
        removal: SandboxRemoval,
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
        self._removal = removal
        self._locks = locks
        self._clock = clock
        self._ids = id_source
        self._faults = faults
        self._workplace = SandboxSetup(database, sandboxes, snapshots, id_source, events, faults)

    @contextmanager
    def started(
        self, project: Path, command: Sequence[str], isolation: Isolation, name: str | None
    ) -> Generator[RunningSession]:
        """Creates a session, holds it, and makes its first checkpoint before the block begins.

        If that fails, the session is cancelled, and nothing of the project was changed.

        Args:
            project: The project, or a directory in it.
            command: What will run.
            isolation: Where it will work.
            name: What the session is called; None for the name of the command.

        Raises:
            ViewUnavailableError: a private view is not possible here.
            ProjectRefusedError: the project cannot be used in this way.
            CheckpointRequiredError: the first checkpoint could not be made.
        """
        facts = self._facts(project, isolation)
        if isolation is Isolation.PRIVATE:
            self._sandboxes.refuse_view(Path(facts.root))
            self._sandboxes.prepare_view()
        plan = self._new(facts, command, isolation, name or Path(command[0]).name)
        with self._locks.hold(plan.id) as lease:
            sandbox = self._begin(lease, plan)
            running = RunningSession(lease, plan, sandbox, self._session_end, self._sandboxes)
            yield running
            self._remove_unchanged(plan.id)

    def _remove_unchanged(self, plan_id: str) -> None:
        """Removes the layer of a private view in which nothing was changed."""
        with self._database.read() as transaction:
            plan = transaction.plans.get(plan_id)
            groups = transaction.checkpoints.groups(plan_id)
            sandboxes = transaction.sandboxes.list(plan_id)
        is_view = all(item.strategy is SandboxStrategy.PRIVATE_VIEW for item in sandboxes)
        states = {tuple(sorted(group.snapshots.items())) for group in groups}
        if not is_view or len(states) != 1 or plan.state is not PlanState.COMPLETE:
            return
        with self._database.write(plan_id) as transaction:
            give_up_sandboxes(transaction, plan_id)
        self._removal.remove_given_up(plan_id)

    def result(self, plan_id: str) -> SessionResult:
        """Returns what a session changed between its start and its last checkpoint."""
        with self._database.read() as transaction:
            plan = transaction.plans.get(plan_id)
            sandboxes = transaction.sandboxes.list(plan_id)
            group = transaction.checkpoints.group_of(plan.last_checkpoint_id or "")
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

    def _begin(self, lease: PlanLease, plan: Plan) -> SandboxRef:
        """Makes the sandbox and the first checkpoint, or cancels the session."""

        def active(transaction: Transaction, latest: Plan) -> Plan:
            for made in transaction.sandboxes.list(latest.id):
                transaction.sandboxes.save(replace(made, state=SandboxState.ACTIVE))
            return latest

        moment = Milestone(
            CheckpointType.PRE_EXECUTE,
            label="start of the session",
            reason="the command is about to start",
            step_index=0,
            trigger=SessionTrigger.START,
        )
        try:
            (sandbox,) = self._workplace.ready(lease)
            self._checkpoints.create_as_required(lease, plan, moment, active)
            self._checkpoints.keep_start(lease)
        except BaseException as error:
            self._cancel(plan, str(error) or type(error).__name__)
            raise
        self._faults.reach(FaultPoint.START_KEPT)
        return sandbox

    def _cancel(self, plan: Plan, reason: str) -> None:
        now = self._clock.now()
        with self._database.write(plan.id) as transaction:
            latest = transaction.plans.get(plan.id).after(PlanAction.CANCEL, now)
            transaction.plans.save(replace(latest, cancel_reason=reason, finished_at=now))
            give_up_sandboxes(transaction, plan.id)
        self._removal.remove_given_up(plan.id)
