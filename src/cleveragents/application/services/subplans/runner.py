"""A step with subplans: wave by wave they are spawned, run beside this process, and merged.

The records show what is done, so a run that continues after a kill spawns,
runs and merges only what is missing.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from cleveragents.application.events import SubplanFinished, SubplanStarted, WarningIssued
from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.locks import Locks
from cleveragents.application.ports.plans import ChildPlans, ChildRun
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.system import Clock, EventSink, FaultPoints, Interruption
from cleveragents.application.services.checkpoint_service import CheckpointService, Milestone
from cleveragents.application.services.execution.step import StepContext
from cleveragents.application.services.recovery import Recovery
from cleveragents.application.services.subplans import family
from cleveragents.application.services.subplans.merger import ChildMerger
from cleveragents.application.services.subplans.spawner import ChildSpawner
from cleveragents.domain.checkpoints.checkpoint import CheckpointType, Trigger
from cleveragents.domain.errors import ExecutionError, InterruptedByUserError
from cleveragents.domain.plans.plan import (
    TRANSITIONS,
    Plan,
    PlanAction,
    PlanError,
    PlanPhase,
    PlanState,
)
from cleveragents.domain.plans.plan_file import SubplansDefinition
from cleveragents.domain.plans.subplan import SPAWN_SUBPLAN

_LOOK_SECONDS = 0.2
_GRACE_SECONDS = 10
_FAILED_FAST = "another subplan failed, and the plan fails fast"
_LATE = "it took longer than its parent allows"


@dataclass
class _RunningChild:
    """A child under way."""

    name: str
    run: ChildRun
    attempt: int
    deadline: float | None
    late: bool = False
    """Whether it took too long and was asked to end."""


@dataclass(frozen=True)
class _ChildFailure:
    name: str
    plan: Plan
    message: str


@dataclass
class _Wave:
    """Children that run at once, as many as may; the others wait."""

    context: StepContext
    subplans: SubplansDefinition
    children: Mapping[str, Plan]
    waiting: deque[str] = field(init=False)
    running: list[_RunningChild] = field(default_factory=list[_RunningChild])
    failed: list[_ChildFailure] = field(default_factory=list[_ChildFailure])
    attempts: Counter[str] = field(default_factory=Counter[str])

    def __post_init__(self) -> None:
        self.waiting = deque(name for name, child in self.children.items() if not is_done(child))

    @property
    def stops(self) -> bool:
        """Whether no other child may start."""
        return self.subplans.fail_fast and bool(self.failed)

    def may_retry(self, child: Plan, attempt: int) -> bool:
        """Returns whether a child that was tried so often runs again."""
        if self.stops or child.state in (PlanState.CONFLICT, PlanState.CANCELLED):
            return False
        return self.subplans.retry_failed and attempt <= self.subplans.max_retries


class SubplanRunner:
    """Runs steps that have subplans."""

    def __init__(
        self,
        database: Database,
        checkpoints: CheckpointService,
        recovery: Recovery,
        spawning: ChildSpawner,
        merging: ChildMerger,
        children: ChildPlans,
        locks: Locks,
        clock: Clock,
        events: EventSink,
        faults: FaultPoints,
        interruption: Interruption,
    ) -> None:
        self._database = database
        self._checkpoints = checkpoints
        self._recovery = recovery
        self._spawning = spawning
        self._merging = merging
        self._children = children
        self._locks = locks
        self._clock = clock
        self._events = events
        self._faults = faults
        self._interruption = interruption

    def run(self, context: StepContext, subplans: SubplansDefinition) -> None:
        """Has the subplans do their part, and merges it.

        Args:
            context: The step.
            subplans: What it has others do.

        Raises:
            ExecutionError: one of them failed; nothing of its wave was merged.
            SubplanConflictError: what they made could not all be merged.
            InterruptedByUserError: the user stopped it; what they have done is kept.
        """
        if not any(map(self._spawning.is_forked, self._spawning.children(context).values())):
            self._begin(context)
        # A cancelled child of an appended step is not made again: the step has nothing to do.
        for names in () if self._spawning.is_given_up(context) else subplans.waves:
            done = self._merging.merged(context.plan.id)
            known = self._spawning.children(context)
            if all(name in known and known[name].id in done for name in names):
                continue
            self._spawning.spawn(context, subplans, names)
            family = self._spawning.children(context)
            self._run_wave(_Wave(context, subplans, {name: family[name] for name in names}))
            for name in names:
                child = self._plan(family[name].id)
                if child.id not in done:
                    self._merging.merge(context, name, child, subplans.merge_strategy)
        self._end(context)

    def _run_wave(self, wave: _Wave) -> None:
        """Runs all children of the wave. Raises ExecutionError if one fails for good."""
        try:
            while wave.waiting or wave.running:
                self._stop_if_asked(wave)
                self._start_more(wave)
                for ended in self._ended(wave.running):
                    wave.running.remove(ended)
                    self._judge(wave, ended)
                self._end_late_ones(wave.running)
        finally:
            self._end_all(wave.running)
        if wave.failed:
            raise _failure(wave.failed)

    def _stop_if_asked(self, wave: _Wave) -> None:
        if self._interruption.requested():
            raise InterruptedByUserError(
                "Stopped while subplans were running; what they have done is kept: "
                + wave.context.plan.id
            )

    def _start_more(self, wave: _Wave) -> None:
        for name in list(wave.waiting):
            if wave.stops or len(wave.running) >= wave.subplans.max_parallel:
                return
            child_id = wave.children[name].id
            # Another process may have it: one of a parent that was killed, or a user's.
            if self._locks.holder(child_id) is not None:
                continue
            wave.waiting.remove(name)
            child = self._plan(child_id)
            if child.state is PlanState.CANCELLED:
                self._fail(wave, name, child, "")
            elif not is_done(child):
                self._start(wave, name, child_id)

    def _start(self, wave: _Wave, name: str, child_id: str) -> None:
        wave.attempts[name] += 1
        attempt, context = wave.attempts[name], wave.context
        self._events.emit(SubplanStarted(context.plan.id, child_id, name, attempt))
        run = self._children.start(child_id, repeat_effects=context.repeat_effects)
        limit = wave.subplans.timeout_per_subplan_seconds
        deadline = None if limit is None else self._clock.monotonic() + limit
        wave.running.append(_RunningChild(name, run, attempt, deadline))

    def _ended(self, running: Sequence[_RunningChild]) -> list[_RunningChild]:
        """Waits a moment, and returns those that have ended."""
        ended = self._children.wait([item.run for item in running], _LOOK_SECONDS)
        return [item for item in running if item.run in ended]

    def _judge(self, wave: _Wave, ended: _RunningChild) -> None:
        """Decides about a child whose run has ended: done, to be tried again, or failed."""
        for warning in ended.run.warnings():
            self._events.emit(WarningIssued(f"Subplan {ended.name}: {warning}"))
        said = _LATE if ended.late else ended.run.said()
        ended.run.close()
        child = self._plan(ended.run.plan_id)
        if ended.late and not is_done(child):
            child = self._fail_late(child)
        plan_id = wave.context.plan.id
        self._events.emit(SubplanFinished(plan_id, child.id, ended.name, is_done(child)))
        self._faults.reach(FaultPoint.CHILD_ENDED)
        if is_done(child):
            if wave.stops:
                self._give_up(child)
        elif wave.may_retry(child, ended.attempt):
            wave.waiting.append(ended.name)
        else:
            self._fail(wave, ended.name, child, said)

    def _fail(self, wave: _Wave, name: str, child: Plan, said: str) -> None:
        wave.failed.append(_ChildFailure(name, child, _why(child, said)))
        if wave.stops:
            for waiting in wave.waiting:
                self._give_up(wave.children[waiting])
            wave.waiting.clear()

    def _give_up(self, child: Plan) -> None:
        """Cancels a child, unless the user has done so already."""
        with (
            self._locks.hold(child.id),
            self._locks.hold_below(child.id),
            self._database.write() as transaction,
        ):
            latest = transaction.plans.get(child.id)
            if (latest.phase, latest.state, PlanAction.CANCEL) in TRANSITIONS:
                family.cancel(transaction, latest, _FAILED_FAST, self._clock.now())

    def _end_late_ones(self, running: Sequence[_RunningChild]) -> None:
        now = self._clock.monotonic()
        for item in running:
            if item.deadline is None or now < item.deadline:
                continue
            if item.late:
                item.run.kill()
            item.late = True
            item.deadline = now + _GRACE_SECONDS
            item.run.stop()

    def _end_all(self, running: Sequence[_RunningChild]) -> None:
        """Ends what still runs, first by asking."""
        for item in running:
            item.run.stop()
        deadline = self._clock.monotonic() + _GRACE_SECONDS
        left = list(running)
        while left and self._clock.monotonic() < deadline:
            ended = self._ended(left)
            left = [item for item in left if item not in ended]
        for item in running:
            item.run.kill()
            item.run.close()

    def _fail_late(self, child: Plan) -> Plan:
        with self._locks.hold(child.id):
            self._recovery.finish(child.id)
            with self._database.write(child.id) as transaction:
                latest = transaction.plans.get(child.id)
                if (latest.phase, latest.state) != (PlanPhase.EXECUTE, PlanState.PROCESSING):
                    return latest
                error = PlanError(
                    message=_LATE,
                    tool=None,
                    step=f"{latest.last_completed_step + 2} of {len(latest.step_sequence)}",
                    step_index=latest.last_completed_step + 1,
                    checkpoint=None,
                    recoverable=True,
                )
                failed = latest.after(PlanAction.FAIL, self._clock.now())
                failed = replace(failed, error=error)
                transaction.plans.save(failed)
        return failed

    def _begin(self, context: StepContext) -> None:
        moment = Milestone(
            CheckpointType.AUTOMATIC,
            label=f"before {context.step.name}",
            reason=f"about to run {SPAWN_SUBPLAN}",
            step_index=context.step_index,
            trigger=Trigger.BEFORE_TOOL_EXECUTE,
            source_tool=SPAWN_SUBPLAN,
            repeated=context.repeated,
        )
        self._checkpoints.auto_create_if_configured(
            context.lease,
            Trigger.BEFORE_TOOL_EXECUTE,
            context.plan,
            moment,
            taken=context.before.taken,
        )

    def _end(self, context: StepContext) -> None:
        def completed(_: Transaction, plan: Plan) -> Plan:
            now = self._clock.now()
            return replace(plan, last_completed_step=context.step_index, updated_at=now)

        moment = Milestone(
            CheckpointType.AUTOMATIC,
            label=f"after {context.step.name}",
            reason=f"ran {SPAWN_SUBPLAN}",
            step_index=context.step_index,
            trigger=Trigger.AFTER_TOOL_EXECUTE,
            source_tool=SPAWN_SUBPLAN,
        )
        self._checkpoints.auto_create_if_configured(
            context.lease, Trigger.AFTER_TOOL_EXECUTE, context.plan, moment, completed
        )
        self._faults.reach(FaultPoint.OUTCOME_RECORDED)

    def _plan(self, plan_id: str) -> Plan:
        with self._database.read() as transaction:
            return transaction.plans.get(plan_id)


def is_done(child: Plan) -> bool:
    """Says whether a child has come to its end."""
    return (child.phase, child.state) == (PlanPhase.EXECUTE, PlanState.COMPLETE)


def _why(child: Plan, said: str) -> str:
    if child.state is PlanState.CANCELLED:
        return (
            f"it was cancelled ({child.cancel_reason})"
            if child.cancel_reason
            else "it was cancelled"
        )
    if child.state is PlanState.ERRORED and child.error is not None:
        return child.error.message
    return said


def _failure(failed: Sequence[_ChildFailure]) -> ExecutionError:
    first = failed[0]
    return ExecutionError(
        "; ".join(f"subplan `{item.name}` failed: {item.message}" for item in failed),
        hint=f"Run `agents plan errors {first.plan.id}` to see what can be done about "
        f"`{first.name}`; what the others made is kept",
        tool=SPAWN_SUBPLAN,
        subplans=[
            {"name": item.name, "plan_id": item.plan.id, "message": item.message} for item in failed
        ],
    )
