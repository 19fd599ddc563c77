"""LogService: what happened to a plan."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from cleveragents.application.ports.records import Database
from cleveragents.domain.checkpoints.number_ranges import holds
from cleveragents.domain.checkpoints.operation import Operation, OperationKind
from cleveragents.domain.decisions.decision import Decision
from cleveragents.domain.plans.events import StoredEvent
from cleveragents.domain.plans.plan import Plan
from cleveragents.domain.tools.tool import ToolCall


@dataclass(frozen=True)
class UndoneWork:
    """What an operation undid, so that the next attempt knows what was tried already."""

    calls: Sequence[ToolCall]
    decisions: Sequence[Decision]


@dataclass(frozen=True)
class PlanLog:
    """What happened to a plan, oldest first."""

    plan_id: str
    events: Sequence[StoredEvent]
    operations: Sequence[Operation]
    tried: Mapping[str, UndoneWork]
    """What each operation took back, by its id."""
    first_checkpoints: Mapping[str, str]
    """The id of the first checkpoint of each group that is still kept, by group."""
    step_names: Mapping[str, str]
    """The name of the step of each tool call, by its id, as far as it is known."""


class LogService:
    """Reads what the other services' records have left behind."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def log(self, plan_id: str, types: Collection[str] | None) -> PlanLog:
        """Returns the plan's events, all or those of some types, and all its operations.

        Raises:
            PlanNotFoundError: there is no such plan.
        """
        with self._database.read() as transaction:
            plan = transaction.plans.get(plan_id)
            checkpoints = transaction.checkpoints.list(plan_id, set_aside=True)
            operations = transaction.operations.list(plan_id)
            calls = transaction.tool_calls.list(plan_id)
            decisions = transaction.decisions.list(plan_id, superseded=True)
            return PlanLog(
                plan_id=plan_id,
                events=transaction.events.list(plan_id, types=types),
                operations=operations,
                tried={item.id: _tried(item, calls, decisions) for item in operations},
                first_checkpoints={item.group_id: item.id for item in reversed(checkpoints)},
                step_names=_step_names(plan, calls, operations),
            )


def _step_names(
    plan: Plan, calls: Sequence[ToolCall], operations: Sequence[Operation]
) -> Mapping[str, str]:
    """Returns the names of steps by the ids of their calls.

    A correction can choose other steps. So the steps of the plan do not tell what a call that
    was undone belonged to.
    """
    steps = plan.step_sequence
    corrected = any(item.kind is OperationKind.CORRECTION for item in operations)
    return {
        call.id: steps[call.step_index].step.name
        for call in calls
        if call.step_index < len(steps) and not (corrected and call.undone_by)
    }


def _tried(
    operation: Operation, calls: Sequence[ToolCall], decisions: Sequence[Decision]
) -> UndoneWork:
    before, after = operation.before, operation.after
    if before is None or after is None:
        return UndoneWork((), ())
    return UndoneWork(
        [
            call
            for call in calls
            if holds(before.calls, call.sequence) and not holds(after.calls, call.sequence)
        ],
        [
            item
            for item in decisions
            if holds(before.decisions, item.sequence) and not holds(after.decisions, item.sequence)
        ],
    )
