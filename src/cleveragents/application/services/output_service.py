"""OutputService: what the steps and validations of a plan printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from cleveragents.application.ports.records import Database
from cleveragents.domain.errors import UsageError
from cleveragents.domain.plans.plan import Plan
from cleveragents.domain.plans.validation import ValidationResult
from cleveragents.domain.tools.tool import ToolCall, output_pieces
from cleveragents.domain.wording import listed


@dataclass(frozen=True)
class PrintedOutput:
    """What one call of a tool, or one run of a validation, printed."""

    kind: Literal["step", "validation"]
    step_index: int | None
    """None for a validation."""
    name: str
    """Of the step or the validation."""
    tool: str | None
    status: str
    undone: bool
    """Whether a rollback undid it."""
    started_at: datetime
    finished_at: datetime | None
    text: str
    pieces: Sequence[tuple[str, bool]]
    """The text in order, and whether each piece came from standard error."""


class OutputService:
    """Looks at what is stored of each call."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def output(self, plan_id: str, wanted: str | None) -> Sequence[PrintedOutput]:
        """Returns what was printed, oldest first.

        Args:
            plan_id: The plan.
            wanted: The number or name of a step, or the name of a validation; None is all.

        Raises:
            UsageError: the plan has no such step or validation.
        """
        with self._database.read() as transaction:
            plan = transaction.plans.get(plan_id)
            calls = transaction.tool_calls.list(plan_id)
            validations = transaction.validations.list(plan_id)
        found = [_of_call(plan, call) for call in calls]
        found += [_of_validation(result) for result in validations]
        if wanted is not None:
            _refuse_unknown(plan, wanted, found)
            found = [item for item in found if _is_meant(item, wanted)]
        return sorted(found, key=lambda item: item.started_at)


def _of_call(plan: Plan, call: ToolCall) -> PrintedOutput:
    steps = plan.step_sequence
    known = call.step_index < len(steps)
    return PrintedOutput(
        kind="step",
        step_index=call.step_index,
        name=steps[call.step_index].step.name if known else call.tool,
        tool=call.tool,
        status=call.status.value,
        undone=call.undone_by is not None,
        started_at=call.started_at,
        finished_at=call.finished_at,
        text=call.output or "",
        pieces=output_pieces(call.output or "", call.stderr),
    )


def _of_validation(result: ValidationResult) -> PrintedOutput:
    return PrintedOutput(
        kind="validation",
        step_index=None,
        name=result.name,
        tool=None,
        status=result.status.value,
        undone=False,
        started_at=result.started_at,
        finished_at=result.finished_at,
        text=result.output,
        pieces=output_pieces(result.output, result.stderr),
    )


def _is_meant(item: PrintedOutput, wanted: str) -> bool:
    number = None if item.step_index is None else str(item.step_index + 1)
    return wanted in (number, item.name)


def _refuse_unknown(plan: Plan, wanted: str, found: Sequence[PrintedOutput]) -> None:
    steps = [item.step.name for item in plan.step_sequence]
    checks = [item.name for item in plan.definition.validations]
    numbers = [str(number) for number in range(1, len(steps) + 1)]
    if wanted in (*numbers, *steps, *checks) or any(_is_meant(item, wanted) for item in found):
        return
    numbered = [f"{number} {name}" for number, name in enumerate(steps, 1)]
    raise UsageError(
        f"The plan has no step or validation `{wanted}`: {plan.id}",
        hint=f"Give one of these, by number or name: {listed([*numbered, *checks], most=10)}",
        plan_id=plan.id,
    )
