"""A step with subplans: wave by wave they are spawned, run beside this process, and merged.

Everything that is done is found again by looking, so a run that goes on after a kill spawns,
runs and merges only what is missing.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from cleveragents.application.events import SubplanFinished, SubplanStarted, Warned
from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports import (
    ChildPlans,
    ChildRun,
    Clock,
    Database,
    EventSink,
    FaultPoints,
    Interruption,
    Locks,
)
from cleveragents.application.services import _family
from cleveragents.application.services._child_merging import ChildMerging
from cleveragents.application.services._spawning import Spawning
from cleveragents.application.services._step import StepContext
from cleveragents.application.services.checkpoint_service import (
    CheckpointService,
    Moment,
    Records,
)
from cleveragents.domain.checkpoint import CheckpointType, Trigger
from cleveragents.domain.errors import ExecutionError, InterruptedByUserError
from cleveragents.domain.plan import Plan, PlanError, PlanEvent, PlanPhase, PlanState
from cleveragents.domain.plan_file import SubplansDefinition
from cleveragents.domain.subplan import SPAWN_SUBPLAN

_LOOK_SECONDS = 0.2
_GRACE_SECONDS = 10


@dataclass
class _Running:
    """A child under way."""

    name: str
    run: ChildRun
    attempt: int
    deadline: float | None
    said: str = ""
    """What it said of itself when it ended."""
    late: bool = False
    """Whether it took too long and was asked to end."""


@dataclass(frozen=True)
class _Failed:
    name: str
    plan: Plan
    message: str


class Subplans:
    """Runs steps that have subplans."""

    def __init__(
        self,
        database: Database,
        checkpoints: CheckpointService,
        spawning: Spawning,
        merging: ChildMerging,
        children: ChildPlans,
        locks: Locks,
        clock: Clock,
        events: EventSink,
        faults: FaultPoints,
        interruption: Interruption,
    ) -> None:
        self._database = database
        self._checkpoints = checkpoints
        self._spawning = spawning
        self._merging = merging
        self._children = children
        self._locks = locks
        self._clock = clock
        self._events = events
        self._faults = faults
        self._interruption = interruption

    def run(self, context: StepContext, subplans: SubplansDefinition, on_success: Records) -> None:
        """Has the subplans do their part, and merges it.

        Args:
            context: The step.
            subplans: What it has others do.
            on_success: Runs in the transaction that stores that all of it is done.

        Raises:
            ExecutionError: one of them failed; nothing of its wave was merged.
            SubplanConflictError: what they made could not all be merged.
            InterruptedByUserError: the user stopped it; what they have done is kept.
        """
        for wave in subplans.waves:
            done = self._merging.merged(context.plan.id)
            known = self._spawning.children(context)
            if all(name in known and known[name].id in done for name in wave):
                continue
            self._spawning.spawn(context, subplans, wave)
            family = self._spawning.children(context)
            self._run_wave(context, subplans, {name: family[name] for name in wave})
            for name in wave:
                child = self.plan(family[name].id)
                if child.id not in done:
                    self._merging.merge(context, name, child, subplans.merge_strategy)
        self._end(context, on_success)

    def _run_wave(
        self, context: StepContext, subplans: SubplansDefinition, children: dict[str, Plan]
    ) -> None:
        wave = _Wave(self, context, subplans, children)
        try:
            failed = wave.run()
        finally:
            wave.close()
        if failed:
            raise _failure(failed)

    def _end(self, context: StepContext, on_success: Records) -> None:
        moment = Moment(
            CheckpointType.AUTOMATIC,
            label=f"after {context.step.name}",
            reason=f"ran {SPAWN_SUBPLAN}",
            step_index=context.step_index,
            trigger=Trigger.AFTER_TOOL_EXECUTE,
            source_tool=SPAWN_SUBPLAN,
        )
        self._checkpoints.auto_create_if_configured(
            Trigger.AFTER_TOOL_EXECUTE, context.plan, moment, on_success
        )
        self._faults.reach(FaultPoint.OUTCOME_RECORDED)

    def plan(self, plan_id: str) -> Plan:
        with self._database.read() as transaction:
            return transaction.plans.get(plan_id)

    # What a wave does with single children.

    def start(self, context: StepContext, name: str, child_id: str, attempt: int) -> ChildRun:
        self._events.emit(SubplanStarted(context.plan.id, child_id, name, attempt))
        return self._children.start(child_id, repeat_effects=context.repeat_effects)

    def ended(self, runs: Sequence[ChildRun]) -> Sequence[ChildRun]:
        return self._children.wait(runs, _LOOK_SECONDS)

    def outcome(self, plan_id: str, ended: _Running) -> Plan:
        """Returns a child as its run left it; one that took too long has failed."""
        for warning in ended.run.warnings():
            self._events.emit(Warned(f"Subplan {ended.name}: {warning}"))
        ended.said = ended.run.said()
        ended.run.close()
        child = self.plan(ended.run.plan_id)
        if ended.late and not is_done(child):
            child = self._fail_late(child)
        self._events.emit(SubplanFinished(plan_id, child.id, ended.name, is_done(child)))
        self._faults.reach(FaultPoint.CHILD_ENDED)
        return child

    def is_held(self, child: Plan) -> bool:
        """Says whether another process has it: one of a parent that was killed, or a user's."""
        return self._locks.holder(child.id) is not None

    def give_up(self, child: Plan, reason: str) -> None:
        with (
            self._locks.hold(child.id),
            _family.held_below(self._database, self._locks, child.id),
            self._database.write() as transaction,
        ):
            latest = transaction.plans.get(child.id)
            _family.cancel(transaction, latest, reason, self._clock.now())

    def stop_if_asked(self, plan_id: str) -> None:
        if self._interruption.requested():
            raise InterruptedByUserError(
                f"Stopped while subplans were running; what they have done is kept: {plan_id}"
            )

    def _fail_late(self, child: Plan) -> Plan:
        with self._locks.hold(child.id):
            self._checkpoints.recover(child.id)
            with self._database.write() as transaction:
                latest = transaction.plans.get(child.id)
                if (latest.phase, latest.state) != (PlanPhase.EXECUTE, PlanState.PROCESSING):
                    return latest
                error = PlanError(
                    message=_TOO_LONG,
                    tool=None,
                    step=f"{latest.last_completed_step + 2} of {len(latest.step_sequence)}",
                    step_index=latest.last_completed_step + 1,
                    checkpoint=None,
                    recoverable=True,
                )
                failed = latest.after(PlanEvent.FAIL, self._clock.now())
                failed = failed.model_copy(update={"error": error})
                transaction.plans.save(failed)
        return failed


class _Wave:
    """Children that run at once, as many as may; the others wait."""

    def __init__(
        self,
        service: Subplans,
        context: StepContext,
        subplans: SubplansDefinition,
        children: dict[str, Plan],
    ) -> None:
        self._service = service
        self._context = context
        self._plan_id = context.plan.id
        self._subplans = subplans
        self._children = children
        self._waiting = deque(name for name, child in children.items() if not is_done(child))
        self._attempts = dict.fromkeys(children, 0)
        self._running: list[_Running] = []
        self._failed: list[_Failed] = []

    def run(self) -> list[_Failed]:
        """Runs all of them; returns those that failed for good."""
        while self._waiting or self._running:
            self._service.stop_if_asked(self._plan_id)
            self._start_more()
            runs = [item.run for item in self._running]
            ended = self._service.ended(runs)
            for item in [item for item in self._running if item.run in ended]:
                self._running.remove(item)
                self._judge(item)
            self._end_late_ones()
        return self._failed

    def close(self) -> None:
        """Ends what still runs, first by asking."""
        for item in self._running:
            item.run.stop()
        deadline = time.monotonic() + _GRACE_SECONDS
        left = [item.run for item in self._running]
        while left and time.monotonic() < deadline:
            ended = self._service.ended(left)
            left = [run for run in left if run not in ended]
        for item in self._running:
            item.run.kill()
            item.run.close()

    @property
    def _stops(self) -> bool:
        """Whether nothing more is to begin."""
        return self._subplans.fail_fast and bool(self._failed)

    def _start_more(self) -> None:
        for name in list(self._waiting):
            if len(self._running) >= self._subplans.max_parallel:
                return
            child = self._children[name]
            if self._service.is_held(child):
                continue  # It is looked at again, and ends or is let go of.
            self._waiting.remove(name)
            if not is_done(self._service.plan(child.id)):
                self._start(name)

    def _start(self, name: str) -> None:
        self._attempts[name] += 1
        child, attempt = self._children[name], self._attempts[name]
        run = self._service.start(self._context, name, child.id, attempt)
        limit = self._subplans.timeout_per_subplan_seconds
        deadline = None if limit is None else time.monotonic() + limit
        self._running.append(_Running(name, run, attempt, deadline))

    def _judge(self, ended: _Running) -> None:
        child = self._service.outcome(self._plan_id, ended)
        if is_done(child):
            if self._stops:
                self._service.give_up(child, _TOO_LATE)
            return
        again = self._subplans.retry_failed and ended.attempt <= self._subplans.max_retries
        if again and not self._stops and child.state is not PlanState.CONFLICT:
            self._waiting.append(ended.name)
            return
        self._failed.append(_Failed(ended.name, child, _why(child, ended)))
        if self._stops:
            for name in self._waiting:
                self._service.give_up(self._children[name], _TOO_LATE)
            self._waiting.clear()

    def _end_late_ones(self) -> None:
        now = time.monotonic()
        for item in self._running:
            if item.deadline is None or now < item.deadline:
                continue
            if item.late:
                item.run.kill()
            item.late = True
            item.deadline = now + _GRACE_SECONDS
            item.run.stop()


_TOO_LATE = "another subplan failed, and the plan fails fast"
_TOO_LONG = "it took longer than its parent allows"


def is_done(child: Plan) -> bool:
    """Says whether a child has come to its end."""
    return (child.phase, child.state) == (PlanPhase.EXECUTE, PlanState.COMPLETE)


def _why(child: Plan, ended: _Running) -> str:
    if child.state is PlanState.ERRORED and child.error is not None:
        return child.error.message
    # A child that was stopped before it began has no error of its own.
    return _TOO_LONG if ended.late else ended.said


def _failure(failed: Sequence[_Failed]) -> ExecutionError:
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
