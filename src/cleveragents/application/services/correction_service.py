"""CorrectionService: changes a decision, or adds to what was decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.locks import Locks
from cleveragents.application.ports.records import Database
from cleveragents.application.ports.system import Clock, FaultPoints, IdSource
from cleveragents.application.services.checkpoint_service import CheckpointService
from cleveragents.application.services.rollback import revert
from cleveragents.application.services.rollback.procedure import RollbackProcedure
from cleveragents.application.services.rollback.revert import CorrectionRequest, Revert
from cleveragents.application.services.subplans.appended_plan import (
    ExtendedPlan,
    child_of,
    extended,
    spawn_of,
)
from cleveragents.domain import ids
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointType
from cleveragents.domain.checkpoints.number_ranges import holds
from cleveragents.domain.checkpoints.operation import RollbackPreview, RollbackResult
from cleveragents.domain.decisions.correction import (
    CorrectionAttempt,
    CorrectionMode,
    CorrectionState,
)
from cleveragents.domain.decisions.decision import Decision, DecisionType
from cleveragents.domain.errors import (
    BusinessRuleViolation,
    CheckpointNotFoundError,
    CorrectionNotFoundError,
    DecisionSupersededError,
    PlanAppliedError,
    UndoTargetMissingError,
)
from cleveragents.domain.plans.plan import Plan, PlanState
from cleveragents.domain.plans.plan_file import PlanDefinition
from cleveragents.domain.sandboxes.sandbox import TreeDiff
from cleveragents.domain.tools.tool import expected_seconds, seconds_spent


@dataclass(frozen=True)
class CorrectionPreview:
    """What a correction would do; nothing was changed to find out."""

    plan: Plan
    decision: Decision
    affected: Sequence[Decision]
    """What would fall with the decision, itself included."""
    unaffected: Sequence[Decision]
    artifacts: Sequence[str]
    """What had come of it."""
    seconds: float
    """How long the steps took that would have to run again."""
    rollback: RollbackPreview


@dataclass(frozen=True)
class RevertResult:
    """A decision that will be made again."""

    plan: Plan
    attempt: CorrectionAttempt
    decision: Decision
    unaffected: Sequence[Decision]
    seconds: float
    """How long the steps took that will run again."""
    rollback: RollbackResult


@dataclass(frozen=True)
class AppendRequest:
    """What an appended correction adds."""

    decision: Decision
    """What it adds to."""
    guidance: str
    """The prompt of the child plan."""
    more: PlanDefinition | None = None
    """The steps of the child, which run at the end of the plan; without them, the child has
    only its prompt."""
    choose: str | None = None
    """The option of the decision that they are from."""


@dataclass(frozen=True)
class AppendResult:
    """A decision that a child plan will add to."""

    attempt: CorrectionAttempt
    decision: Decision
    plan: Plan
    child: Plan
    seconds: float | None
    """How long the child's steps would take if each took as long as the plan's own, on average;
    None if that is unknown."""


@dataclass(frozen=True)
class PromptResult:
    """Guidance that was recorded."""

    plan: Plan
    decision: Decision
    pending: int
    """How much guidance no run has begun with yet."""
    applied: int


@dataclass(frozen=True)
class CorrectionComparison:
    """What was there before a correction, beside what is there now."""

    attempt: CorrectionAttempt
    before: Checkpoint
    after: Checkpoint
    difference: TreeDiff


class CorrectionService:
    """Corrects decisions by the same procedure that rolls back."""

    def __init__(
        self,
        database: Database,
        checkpoints: CheckpointService,
        rollbacks: RollbackProcedure,
        locks: Locks,
        clock: Clock,
        id_source: IdSource,
        faults: FaultPoints,
    ) -> None:
        self._database = database
        self._checkpoints = checkpoints
        self._rollbacks = rollbacks
        self._locks = locks
        self._clock = clock
        self._ids = id_source
        self._faults = faults

    def preview(self, decision: Decision, guidance: str, choose: str | None) -> CorrectionPreview:
        """Says what reverting would do; raises what it would."""
        rollback = self._rollbacks.preview(
            decision.plan_id, Revert(decision, self._request(guidance, choose))
        )
        with self._database.read() as transaction:
            plan = transaction.plans.get(decision.plan_id)
            affected = revert.affected(transaction, decision)
            standing = transaction.decisions.list(plan.id)
            reverted = revert.reverted(transaction, plan, decision)
            calls = transaction.tool_calls.list(plan.id)
        fallen = {item.id for item in affected}
        first = 0 if decision.step_index is None else decision.step_index
        return CorrectionPreview(
            plan=plan,
            decision=decision,
            affected=affected,
            unaffected=[item for item in standing if item.id not in fallen],
            artifacts=sorted({path for item in reverted for path in item.artifacts}),
            seconds=seconds_spent(
                call for call in calls if call.undone_by is None and call.step_index >= first
            ),
            rollback=rollback,
        )

    def revert(self, decision: Decision, guidance: str, choose: str | None) -> RevertResult:
        """Rolls the plan back to before the decision, so that it is made again.

        Raises:
            DecisionSupersededError: it is superseded.
            NoEarlierCheckpointError: no checkpoint from before it exists.
            ChildAppliedError: a child plan that came of it is applied.
            UsageError: it has no such option.
        """
        request = self._request(guidance, choose)
        done = self._rollbacks.run(decision.plan_id, Revert(decision, request))
        with self._database.read() as transaction:
            plan = transaction.plans.get(decision.plan_id)
            attempt = transaction.corrections.get(request.attempt_id)
            standing = transaction.decisions.list(plan.id)
            calls = transaction.tool_calls.list(plan.id)
        unaffected = [item for item in standing if item.id != request.new_decision_id]
        undone = seconds_spent(call for call in calls if call.undone_by == done.operation_id)
        return RevertResult(plan, attempt, decision, unaffected, undone, done)

    def append(self, work: AppendRequest) -> AppendResult:
        """Has a child plan do more; everything that was decided and done stays.

        Raises:
            DecisionSupersededError: the decision is superseded.
            PlanAppliedError: the plan is applied.
            PlanStateError: the plan is cancelled, and steps were given.
        """
        guidance, more, choose = work.guidance, work.more, work.choose
        request = self._request(guidance, choose)
        with self._locks.hold(work.decision.plan_id), self._database.write() as transaction:
            decision = transaction.decisions.get(work.decision.id)
            plan = transaction.plans.get(decision.plan_id)
            if plan.state is PlanState.APPLIED:
                raise PlanAppliedError(plan.id)
            if decision.superseded_by is not None:
                raise DecisionSupersededError(decision.id, plan.id)
            if more is not None and plan.parent_plan_id is not None:
                raise BusinessRuleViolation(
                    "Steps cannot be appended to a subplan: its result may be merged already",
                    hint=f"Append them to a decision of its parent {plan.parent_plan_id}",
                    plan_id=plan.id,
                )
            spawn_id = self._ids.new()
            longer = None if more is None else extended(plan, more, guidance, request.now)
            if longer is not None:
                plan = longer.plan
                transaction.plans.save(plan)
            name, steps = (longer.name, more.steps) if longer and more else (None, [])
            child = child_of(plan, name, steps, spawn_id, guidance, self._ids, request.now)
            attempt = CorrectionAttempt(
                id=request.attempt_id,
                plan_id=plan.id,
                original_decision_id=decision.id,
                new_decision_id=request.new_decision_id,
                operation_id=None,
                mode=CorrectionMode.APPEND,
                guidance=guidance,
                choose=choose,
                attempt=plan.attempt,
                state=CorrectionState.EXECUTING,
                original_subtree=(),
                archived_checkpoint_id=None,
                archived_artifacts_path=None,
                child_plan_id=child.plan.id,
                created_at=request.now,
                completed_at=None,
            )
            transaction.corrections.add(attempt)
            revert.complete(transaction, plan, attempt, request.now)
            sequence = transaction.decisions.next_sequence(plan.id)
            spawn = spawn_of(
                plan, decision, spawn_id, child.plan.id, guidance, sequence, request.now
            )
            transaction.decisions.add(_placed(spawn, longer))
            transaction.plans.add(child.plan)
            resources = transaction.sandboxes.resources(plan.id)
            for resource in resources:
                update = {"id": self._ids.new(), "plan_id": child.plan.id}
                transaction.sandboxes.add_resource(replace(resource, **update))
            transaction.decisions.add(child.root)
            attempt = transaction.corrections.get(attempt.id)
            calls = transaction.tool_calls.list(plan.id)
        self._faults.reach(FaultPoint.CHILD_APPENDED)
        seconds = expected_seconds(calls, len(child.plan.step_sequence))
        return AppendResult(attempt, decision, plan, child.plan, seconds)

    def steps_of(self, decision: Decision, choose: str) -> PlanDefinition:
        """Returns the steps of an option of a decision, as `append` takes them.

        Raises:
            UsageError: it has no such option.
        """
        with self._database.read() as transaction:
            plan = transaction.plans.get(decision.plan_id)
        option = revert.option_of(plan, decision, choose)
        return replace(plan.definition, steps=option.steps, arguments={})

    def prompt(self, plan_id: str, text: str) -> PromptResult:
        """Records guidance for what the plan does next; nothing is rolled back.

        Raises:
            PlanStateError: the plan is cancelled or applied.
        """
        with self._locks.hold(plan_id), self._database.write(plan_id) as transaction:
            plan = transaction.plans.get(plan_id)
            if plan.state in (PlanState.CANCELLED, PlanState.APPLIED):
                raise plan.refusal("take guidance")
            decision = revert.guidance_of(
                transaction, plan, self._ids.new(), text, self._clock.now()
            )
            transaction.decisions.add(decision)
            said = [
                item
                for item in transaction.decisions.list(plan_id)
                if item.decision_type is DecisionType.USER_INTERVENTION
            ]
            run = transaction.checkpoints.newest(plan_id, CheckpointType.PRE_EXECUTE)
            way = None if run is None else transaction.checkpoints.get_group(run.group_id).way
            heard = [item for item in said if way and holds(way.decisions, item.sequence)]
        return PromptResult(plan, decision, pending=len(said) - len(heard), applied=len(heard))

    def find(self, text: str) -> CorrectionAttempt:
        """Returns the correction that `text` names.

        Raises:
            CorrectionNotFoundError: there is none, or it cannot be an id.
            AmbiguousIdError: several fit.
        """
        prefix = ids.normalise(text)
        if not prefix:
            raise CorrectionNotFoundError(text)
        with self._database.read() as transaction:
            chosen = ids.choose(text, "correction", transaction.corrections.ids(prefix))
            if chosen is None:
                raise CorrectionNotFoundError(text)
            return transaction.corrections.get(chosen)

    def history(self, plan_id: str) -> Sequence[CorrectionAttempt]:
        """Returns the corrections of a plan, oldest first."""
        with self._database.read() as transaction:
            return transaction.corrections.list(plan_id)

    def diff(self, attempt: CorrectionAttempt) -> CorrectionComparison:
        """Says how the plan's last checkpoint differs from what a revert took away.

        Raises:
            UndoTargetMissingError: that state was deleted, or the correction replaced nothing.
        """
        what = f"correction {attempt.id} with what was there before it"
        missing = UndoTargetMissingError("compare", what, attempt.plan_id)
        with self._database.read() as transaction:
            plan = transaction.plans.get(attempt.plan_id)
            archived, last = attempt.archived_checkpoint_id, plan.last_checkpoint_id
            if archived is None or last is None:
                raise missing
            try:
                before = transaction.checkpoints.get(archived)
                after = transaction.checkpoints.get(last)
            except CheckpointNotFoundError as error:
                raise missing from error
        difference = self._checkpoints.diff(plan.id, before, after)
        return CorrectionComparison(attempt, before, after, difference)

    def _request(self, guidance: str, choose: str | None) -> CorrectionRequest:
        return CorrectionRequest(
            self._ids.new(), self._ids.new(), guidance, choose, self._clock.now()
        )


def _placed(spawn: Decision, longer: ExtendedPlan | None) -> Decision:
    """Returns the decision at the step that runs the child, if there is one."""
    if longer is None:
        return spawn
    index = len(longer.plan.step_sequence) - 1
    return replace(spawn, place=longer.place, step_index=index)
