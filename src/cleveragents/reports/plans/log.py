"""A plan's log: its events and operations, in sentences and as data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from cleveragents.application.services.log_service import PlanLog, UndoneWork
from cleveragents.domain.checkpoints.operation import Operation, OperationStatus
from cleveragents.domain.plans import events
from cleveragents.domain.plans.events import PlanEventRecord, StoredEvent
from cleveragents.reports.described import Description, Field, times
from cleveragents.reports.report import Column, Report


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
    """Returns the log.

    Args:
        log: All events and operations of the plan.
        limit: How many events to show, the newest ones; None shows all of them.
        only_some_types: Whether the user asked for certain types; leaves out the operations.
    """
    chosen = log.events[-limit:] if limit else log.events
    lines = [_Line(item.created_at, item.type, _sentence(item, log.step_names)) for item in chosen]
    if not only_some_types:
        earliest = chosen[0].created_at if limit and chosen else None
        for line in _operation_lines(log.operations):
            if earliest is None or line.time >= earliest:
                _insert(lines, line)
    table = _LINE.table(
        f"Log of {log.plan_id}",
        lines,
        ("Time (UTC)", "What", "Details"),
        empty="No matching events.",
        lines=(
            times("Time", [line.time for line in lines]),
            _LINE.column("What", lines),
            Column("Details", tuple(" ".join(line.details.split()) for line in lines), cut="end"),
        ),
    )
    data = {
        "plan_id": log.plan_id,
        "events": _EVENT.list(chosen),
        "operations": _operation(log).list(log.operations),
        "summary": {"count": len(chosen), "total": len(log.events)},
    }
    return Report(data, (table,))


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
    """Inserts a line by its time, and leaves the others in order even if the clock went back."""
    later = (position for position, other in enumerate(lines) if other.time >= line.time)
    lines.insert(next(later, len(lines)), line)


def _operation_lines(operations: Sequence[Operation]) -> Iterator[_Line]:
    """Yields the start of each operation, and its end if there is no event for it."""
    for item in operations:
        pending = item.status is OperationStatus.PENDING
        begun = "Started, but not finished" if pending else "Started"
        yield _Line(item.created_at, item.kind.value, f"{begun}: {item.note}")
        if item.status is OperationStatus.UNDONE:
            ended = item.finished_at or item.created_at
            text = f"Could not be completed and was undone: {item.note}"
            yield _Line(ended, item.kind.value, text)


_SENTENCES: Mapping[type[PlanEventRecord], str] = {
    events.PlanCreated: "Plan `{name}` created for {project}",
    events.PlanPhaseChanged: "Plan moved from {before} to {after}",
    events.PlanStateChanged: "Plan is now {phase}/{after}",
    events.PlanErrored: "Plan failed at step {step}: {message}",
    events.PlanCancelled: "Plan cancelled{because}",
    events.PlanApplied: "Plan applied",
    events.PlanUnapplied: "Apply undone",
    events.ValidationStarted: "Validation `{name}` started",
    events.ValidationPassed: "Validation `{name}` passed{duration}",
    events.ValidationFailed: "Validation failed{duration}: {message}",
    events.DecisionCreated: "Decided: {question} {chosen}",
    events.DecisionSuperseded: "Decision superseded: {question}",
    events.DecisionReinstated: "Decision reinstated: {question}",
    events.DecisionCorrected: "Corrected by the user: {guidance}",
    events.ToolInvoked: "Step {number}{step_name}: {tool} started",
    events.ToolCompleted: "Step {number}{step_name}: {tool} finished{duration}",
    events.ToolErrored: "Step {number}{step_name}: {tool} failed{duration}: {message}",
    events.ToolRetried: "Step {number}: {tool} retried ({retry} of {max_retries})",
    events.SandboxCreated: "Sandbox of `{resource}` created by {strategy}",
    events.SandboxRolledBack: "Sandbox of `{resource}` rolled back",
    events.SandboxCommitted: "Sandbox of `{resource}` applied to the project",
    events.CheckpointCreated: "Checkpoint `{label}` created",
    events.CheckpointRestored: "{operation_done} to `{label}`",
    events.CheckpointPruned: "Checkpoint `{label}` pruned",
    events.CheckpointDeleted: "Checkpoint `{label}` deleted",
    events.CheckpointPinned: "Checkpoint `{label}` pinned",
    events.CheckpointUnpinned: "Checkpoint `{label}` unpinned",
}

_OPERATIONS_DONE = {
    None: "Sandbox rolled back",
    "rollback": "Rolled back",
    "correction": "Rolled back for a correction",
    "undo": "Undone: plan restored",
    "redo": "Redone: plan restored",
}


def _sentence(event: StoredEvent, step_names: Mapping[str, str]) -> str:
    """Describes an event; one that another version stored is shown as its bare data."""
    record = event.record
    if record is None:
        return json.dumps(dict(event.data), ensure_ascii=False)
    facts: dict[str, Any] = msgspec.structs.asdict(record)
    # Words that depend on a fact; a sentence picks the ones that its kind of event has.
    operation = facts.get("operation")
    step = step_names.get(facts.get("tool_call_id", ""))
    words = {
        "step_name": f", {step}" if step else "",
        "number": (facts.get("step_index") or 0) + 1,
        "because": f": {facts['reason']}" if facts.get("reason") else "",
        "duration": _duration(facts.get("duration_ms")),
        "message": " ".join((facts.get("message") or "").splitlines()),
        "operation_done": _OPERATIONS_DONE.get(operation, "Restored"),
    }
    return _SENTENCES[type(record)].format_map(facts | words)


def _duration(milliseconds: int | None) -> str:
    if milliseconds is None:
        return ""
    if milliseconds < 1000:
        return f" after {milliseconds} ms"
    return f" after {milliseconds / 1000:.1f} s"
