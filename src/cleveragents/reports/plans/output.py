"""What the steps and validations of a plan printed."""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.application.services.output_service import PrintedOutput
from cleveragents.domain.plans.plan import Plan
from cleveragents.reports.described import Description, Field
from cleveragents.reports.printed import marked_lines
from cleveragents.reports.report import Report, Text

_OUTPUT = Description[PrintedOutput](
    Field("kind", None, lambda it: it.kind),
    Field("step_index", None, lambda it: it.step_index),
    Field("name", None, lambda it: it.name),
    Field("tool", None, lambda it: it.tool),
    Field("status", None, lambda it: it.status),
    Field("undone", None, lambda it: it.undone),
    Field("started_at", None, lambda it: it.started_at),
    Field("finished_at", None, lambda it: it.finished_at),
    Field("output", None, lambda it: it.text),
    Field(
        "streams",
        None,
        lambda it: [
            {"stream": "stderr" if stderr else "stdout", "text": text} for text, stderr in it.pieces
        ],
    ),
)


def output_report(plan: Plan, outputs: Sequence[PrintedOutput]) -> Report:
    data = {"plan_id": plan.id, "outputs": _OUTPUT.list(outputs)}
    messages: tuple[str, ...] = ()
    if not outputs:
        messages = ("Nothing has run yet",)
    elif any(stderr for item in outputs for _, stderr in item.pieces):
        messages = ("Lines marked `!` were written to standard error",)
    sections = tuple(Text(_title(item), _body(item)) for item in outputs)
    return Report(data, sections, messages, did_something=False)


def _title(item: PrintedOutput) -> str:
    undone = ", undone" if item.undone else ""
    if item.step_index is None:
        return f"Validation {item.name}: {item.status}"
    return f"Step {item.step_index + 1}, {item.name} ({item.tool}): {item.status}{undone}"


def _body(item: PrintedOutput) -> str:
    return "\n".join(marked_lines(item.pieces)) or "(printed nothing)"
