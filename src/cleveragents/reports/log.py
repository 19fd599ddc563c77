"""What happened to a plan, in sentences and as data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from cleveragents.application.services.log_service import PlanLog, Tried
from cleveragents.domain import events as told
from cleveragents.domain.events import StoredEvent
from cleveragents.domain.operation import Operation, OperationStatus
from cleveragents.reports.report import Report, Table
from cleveragents.reports.words import moment, readable


class _Line(NamedTuple):
    time: datetime
    what: str
    details: str


def log_report(log: PlanLog, limit: int | None, only_some_types: bool) -> Report:
    """Returns the log; `limit` keeps the newest events, operations are left to the data then."""
    events = log.events[-limit:] if limit else log.events
    lines = [_Line(item.created_at, item.type, sentence(item)) for item in events]
    if not only_some_types:
        earliest = events[0].created_at if limit and events else None
        for line in _of_operations(log.operations):
            if earliest is None or line.time >= earliest:
                _insert(lines, line)
    table = Table(
        f"Log of {log.plan_id}",
        ("Time (UTC)", "What", "Details"),
        tuple((readable(line.time), line.what, line.details) for line in lines),
        empty="Nothing of this kind has happened to the plan.",
    )
    return Report(_data(log, events), (table,))


def _data(log: PlanLog, events: Sequence[StoredEvent]) -> dict[str, object]:
    return {
        "plan_id": log.plan_id,
        "events": [
            {
                "sequence": item.sequence,
                "type": item.type,
                "created_at": moment(item.created_at),
                "data": dict(item.data),
            }
            for item in events
        ],
        "operations": [
            {
                "operation_id": item.id,
                "kind": item.kind.value,
                "status": item.status.value,
                "target_checkpoint_id": item.target_checkpoint_id,
                "safety_checkpoint_id": log.first_checkpoints.get(item.safety_group_id),
                "takes_back": item.takes_back,
                "created_at": moment(item.created_at),
                "finished_at": moment(item.finished_at),
                "note": item.note,
                "tried": _tried_data(log.tried[item.id]),
            }
            for item in log.operations
        ],
        "summary": {"count": len(events), "total": len(log.events)},
    }


def _tried_data(tried: Tried) -> dict[str, object]:
    return {
        "tool_calls": [
            {"step": call.step_index + 1, "tool": call.tool, "status": call.status.value}
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
        begun = "Began, and was not ended" if pending else "Began"
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
            return f"Plan went from {before} to {after}"
        case told.PlanStateChanged(phase=phase, after=after):
            return f"Plan became {phase}/{after}"
        case told.PlanErrored(message=message, step=step):
            return f"Plan failed at step {step}: {message}"
        case told.PlanCancelled(reason=reason):
            return f"Plan cancelled: {reason}" if reason else "Plan cancelled"
        case told.DecisionCreated(question=question, chosen=chosen):
            return f"Decided on `{chosen}`: {question}"
        case told.DecisionSuperseded(question=question):
            return f"No longer decided: {question}"
        case told.SandboxCreated(resource=resource, strategy=strategy):
            return f"Sandbox of `{resource}` made by {strategy}"
        case told.SandboxRolledBack(resource=resource):
            return f"Sandbox of `{resource}` rolled back"
        case told.CheckpointRestored(label=label, operation=None):
            return f"Sandbox taken back to `{label}`"
        case told.CheckpointRestored(label=label, operation=operation):
            return f"{_ACTS.get(operation or '', 'Went back')} to `{label}`"
        case told.DecisionReinstated(question=question):
            return f"Decided again as before: {question}"
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
            return f"Step {index + 1}: {tool} is tried again ({retry} of {most})"
        case _:
            return json.dumps(dict(event.data), ensure_ascii=False)


def _after(milliseconds: int | None) -> str:
    if milliseconds is None:
        return ""
    short = milliseconds < 1000
    return f" after {milliseconds} ms" if short else f" after {milliseconds / 1000:.1f} s"
