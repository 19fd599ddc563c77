"""PlanResumeService: whether and where a plan can continue, and continuing it."""

from __future__ import annotations

from dataclasses import dataclass

from cleveragents.application.ports.locks import Locks
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.sandboxes import Sandboxes, SnapshotStore
from cleveragents.application.services.checkpoints.resume_point import resume_point
from cleveragents.application.services.plan_executor import PlanExecutor
from cleveragents.domain.checkpoints.checkpoint import Checkpoint
from cleveragents.domain.checkpoints.operation import Operation
from cleveragents.domain.decisions.decision import Decision
from cleveragents.domain.errors import SandboxMissingError
from cleveragents.domain.plans.lease import Holder
from cleveragents.domain.plans.plan import Plan, PlanPhase, PlanState
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.domain.tools.tool import Effect, repeated_by

_OK = "ok"


@dataclass(frozen=True)
class ResumeSummary:
    """Where a plan would continue; finding out changed nothing."""

    plan: Plan
    reason: str
    """`ok`, or a code that says why it cannot continue."""
    next_step: int
    step_name: str | None
    """None when only the end of the run is missing."""
    checkpoint: Checkpoint | None
    """What the sandboxes will be brought to; None before the first."""
    decision: Decision | None
    """The last one that is still in effect."""
    drifted: tuple[str, ...]
    """Resources that differ from the checkpoint or are gone: they are restored."""
    effects: tuple[Effect, ...]
    """The irreversible effects that would happen again."""
    operation: Operation | None
    """A rollback that was interrupted and is ended first."""
    holder: Holder | None

    @property
    def eligible(self) -> bool:
        return self.reason == _OK


_REASONS = {
    PlanState.COMPLETE: "complete",
    PlanState.CANCELLED: "cancelled",
    PlanState.APPLIED: "applied",
    PlanState.CONFLICT: "conflict",
    PlanState.CONSTRAINED: "constrained",
}


class PlanResumeService:
    """Continues plans that were interrupted, failed or were rolled back."""

    def __init__(
        self,
        database: Database,
        executor: PlanExecutor,
        sandboxes: Sandboxes,
        snapshots: SnapshotStore,
        locks: Locks,
    ) -> None:
        self._database = database
        self._executor = executor
        self._sandboxes = sandboxes
        self._snapshots = snapshots
        self._locks = locks

    def summary(self, plan_id: str) -> ResumeSummary:
        """Returns where the plan would continue, or why it cannot; changes nothing."""
        holder = self._locks.holder(plan_id)
        with self._database.read() as transaction:
            plan = transaction.plans.get(plan_id)
            point = resume_point(transaction, plan)
            operation = transaction.operations.pending(plan_id)
            decisions = transaction.decisions.list(plan_id)
            calls = transaction.tool_calls.list(plan_id)
            snapshots = _snapshots_at(transaction, point)
            sandboxes = transaction.sandboxes.list(plan_id)
        done = _done(plan, point)
        steps = plan.step_sequence
        reason = _reason(plan, holder)
        # What is not resumed is not restored either, and its sandboxes may be gone.
        drifted = tuple(
            sandbox.resource
            for sandbox in (sandboxes if reason == _OK else ())
            if self._has_drifted(sandbox, snapshots.get(sandbox.resource_id))
        )
        return ResumeSummary(
            plan=plan,
            reason=reason,
            next_step=done + 1,
            step_name=steps[done + 1].step.name if done + 1 < len(steps) else None,
            checkpoint=point,
            decision=decisions[-1] if decisions else None,
            drifted=drifted,
            effects=repeated_by(calls, done + 1, plan.tools),
            operation=operation,
            holder=holder,
        )

    def _has_drifted(self, sandbox: SandboxRef, snapshot: str | None) -> bool:
        try:
            self._sandboxes.check(sandbox)
        except SandboxMissingError:
            return True
        if snapshot is None:
            return False
        with self._snapshots.open(sandbox) as opened:
            return bool(opened.preview(snapshot).changes)

    def effects(self, plan_id: str) -> tuple[Effect, ...]:
        """Returns the irreversible effects that resuming would repeat."""
        with self._database.read() as transaction:
            plan = transaction.plans.get(plan_id)
            point = resume_point(transaction, plan)
            calls = transaction.tool_calls.list(plan_id)
        done = _done(plan, point)
        return repeated_by(calls, done + 1, plan.tools)

    def resume(self, plan_id: str, *, repeat_effects: bool) -> Plan:
        """Continues at the next step.

        Raises:
            PlanStateError: it cannot continue; the details have a `reason`.
            ConflictError: another process holds the plan.
            Whatever `PlanExecutor.execute` raises.
        """
        with self._database.read() as transaction:
            plan = transaction.plans.get(plan_id)
        _refuse_unless_resumable(plan)
        return self._executor.execute(plan_id, repeat_effects=repeat_effects)


def _refuse_unless_resumable(plan: Plan) -> None:
    """Raises PlanStateError, with a `reason`, for a plan that nothing is left to do of."""
    reason = _reason(plan, None)
    if reason != _OK:
        raise plan.refusal("be resumed", reason=reason)


def _reason(plan: Plan, holder: Holder | None) -> str:
    if holder is not None:
        return "held"
    if (plan.phase, plan.state) == (PlanPhase.STRATEGIZE, PlanState.COMPLETE):
        return _OK  # Made, and killed before anything of its run was durable, or never run.
    return _REASONS.get(plan.state, "in_apply" if plan.phase is PlanPhase.APPLY else _OK)


def _done(plan: Plan, point: Checkpoint | None) -> int:
    """Returns the step after which the plan continues; an unfinished one is rolled back first."""
    ended = plan.state not in (PlanState.ERRORED, PlanState.PROCESSING)
    return plan.last_completed_step if ended or not point else point.metadata.last_completed_step


def _snapshots_at(transaction: Transaction, point: Checkpoint | None) -> dict[str, str]:
    return {} if point is None else transaction.checkpoints.get_group(point.group_id).snapshots
