"""What happened to a plan, in sentences and as data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from cleveragents.application.services.log_service import PlanLog, UndoneWork
from cleveragents.domain.checkpoints.operation import Operation, OperationStatus
from cleveragents.domain.plans import events as told
from cleveragents.domain.plans.events import StoredEvent
from cleveragents.reports.described import Description, Field
from cleveragents.reports.report import Report


class _Line(NamedTuple):
    time: datetime
    what: str
    details: str


_EVENT = Description[StoredEvent](
    Field("sequence", None, lambda it: it.sequence),
    Field("type", None, lambda it: it.type),
    Field("created_at", None, lambda it: it.created_at),
    Field("data", None, lambda it: dict(it.data)),
)

_LINE = Description[_Line](
    Field(None, "Time (UTC)", lambda it: it.time),
    Field(None, "What", lambda it: it.what),
    Field(None, "Details", lambda it: it.details),
)


def log_report(log: PlanLog, limit: int | None, only_some_types: bool) -> Report:
    """Returns the log; `limit` keeps the newest events, operations are left to the data then."""
    events = log.events[-limit:] if limit else log.events
    lines = [_Line(item.created_at, item.type, sentence(item)) for item in events]
    if not only_some_types:
        earliest = events[0].created_at if limit and events else None
        for line in _of_operations(log.operations):
            if earliest is None or line.time >= earliest:
                _insert(lines, line)
    table = _LINE.table(
        f"Log of {log.plan_id}",
        lines,
        ("Time (UTC)", "What", "Details"),
        empty="There are no such events.",
    )
    return Report(_data(log, events), (table,))


def _data(log: PlanLog, events: Sequence[StoredEvent]) -> dict[str, object]:
    return {
        "plan_id": log.plan_id,
        "events": _EVENT.list(events),
        "operations": _operation(log).list(log.operations),
        "summary": {"count": len(events), "total": len(log.events)},
    }


def _operation(log: PlanLog) -> Description[Operation]:
    return Description(
        Field("operation_id", None, lambda it: it.id),
        Field("kind", None, lambda it: it.kind),
        Field("status", None, lambda it: it.status),
        Field("target_checkpoint_id", None, lambda it: it.target_checkpoint_id),
        Field(
            "safety_checkpoint_id", None, lambda it: log.first_checkpoints.get(it.safety_group_id)
        ),
        Field("takes_back", None, lambda it: it.takes_back),
        Field("created_at", None, lambda it: it.created_at),
        Field("finished_at", None, lambda it: it.finished_at),
        Field("note", None, lambda it: it.note),
        Field("tried", None, lambda it: _tried_data(log.tried[it.id])),
    )


def _tried_data(tried: UndoneWork) -> dict[str, object]:
    return {
        "tool_calls": [
            {"step": call.step_index + 1, "tool": call.tool, "status": call.status}
            for call in tried.calls
        ],
        "decisions": [
            {"question": item.question, "chosen": item.chosen_option} for item in tried.decisions
        ],
    }


def _insert(lines: list[_Line], line: _Line) -> None:
    """Puts a line where its time belongs; the others keep their order, whatever the clock did."""
    later = (place for place, other in enumerate(lines) if other.time >= line.time)
    lines.insert(next(later, len(lines)), line)


def _of_operations(operations: Sequence[Operation]) -> Iterator[_Line]:
    """Gives the beginning of each, and its end where no event tells of it."""
    for item in operations:
        pending = item.status is OperationStatus.PENDING
        begun = "Started, but not finished" if pending else "Began"
        yield _Line(item.created_at, item.kind.value, f"{begun}: {item.note}")
        if item.status is OperationStatus.UNDONE:
            ended = item.finished_at or item.created_at
            text = f"Could not be completed and was undone: {item.note}"
            yield _Line(ended, item.kind.value, text)


_ACTS = {
    "rollback": "Rolled back",
    "correction": "Reverted for a correction",
    "undo": "Undone, back",
    "redo": "Redone, back",
}


def sentence(event: StoredEvent) -> str:
    """Says what happened; of an event that another program stored, all that it holds."""
    match event.record:
        case told.PlanCreated(name=name, project=project):
            return f"Plan `{name}` made for {project}"
        case told.PlanPhaseChanged(before=before, after=after):
            return f"Plan moved from {before} to {after}"
        case told.PlanStateChanged(phase=phase, after=after):
            return f"Plan became {phase}/{after}"
        case told.PlanErrored(message=message, step=step):
            return f"Plan failed at step {step}: {message}"
        case told.PlanCancelled(reason=reason):
            return f"Plan cancelled: {reason}" if reason else "Plan cancelled"
        case told.DecisionCreated(question=question, chosen=chosen):
            return f"Decided on `{chosen}`: {question}"
        case told.DecisionSuperseded(question=question):
            return f"Decision superseded: {question}"
        case told.SandboxCreated(resource=resource, strategy=strategy):
            return f"Sandbox of `{resource}` made by {strategy}"
        case told.SandboxRolledBack(resource=resource):
            return f"Sandbox of `{resource}` rolled back"
        case told.CheckpointRestored(label=label, operation=None):
            return f"Sandbox rolled back to `{label}`"
        case told.CheckpointRestored(label=label, operation=operation):
            return f"{_ACTS.get(operation or '', 'Went back')} to `{label}`"
        case told.DecisionReinstated(question=question):
            return f"Decision reinstated: {question}"
        case told.DecisionCorrected(guidance=guidance):
            return f"Corrected by the user: {guidance}"
        case _:
            return _of_checkpoint(event)


def _of_checkpoint(event: StoredEvent) -> str:
    match event.record:
        case told.CheckpointCreated(label=label):
            return f"Checkpoint `{label}` made"
        case told.CheckpointPruned(label=label):
            return f"Checkpoint `{label}` dropped"
        case told.CheckpointDeleted(label=label):
            return f"Checkpoint `{label}` deleted"
        case told.CheckpointPinned(label=label):
            return f"Checkpoint `{label}` pinned"
        case told.CheckpointUnpinned(label=label):
            return f"Checkpoint `{label}` unpinned"
        case _:
            return _of_tool(event)


def _of_tool(event: StoredEvent) -> str:
    match event.record:
        case told.ToolInvoked(step_index=index, tool=tool):
            return f"Step {index + 1}: {tool} started"
        case told.ToolCompleted(step_index=index, tool=tool, duration_ms=duration):
            return f"Step {index + 1}: {tool} done{_after(duration)}"
        case told.ToolErrored(step_index=index, tool=tool, duration_ms=duration, message=message):
            return f"Step {index + 1}: {tool} failed{_after(duration)}: {message}"
        case told.ToolRetried(step_index=index, tool=tool, retry=retry, max_retries=most):
            return f"Step {index + 1}: {tool} is retried ({retry} of {most})"
        case _:
            return json.dumps(dict(event.data), ensure_ascii=False)


def _after(milliseconds: int | None) -> str:
    if milliseconds is None:
        return ""
    short = milliseconds < 1000
    return f" after {milliseconds} ms" if short else f" after {milliseconds / 1000:.1f} s"
