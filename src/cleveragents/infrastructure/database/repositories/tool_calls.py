"""Tool calls, and what they did to paths."""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.application.ports.records import ChangeStore, ToolCallStore
from cleveragents.domain.checkpoints.number_ranges import HIGHEST, Ranges, gaps
from cleveragents.domain.plans.events import ToolCompleted, ToolErrored, ToolInvoked
from cleveragents.domain.sandboxes.change import AuthoredChange, ChangeCounts, PathChange
from cleveragents.domain.tools.tool import ToolCall, ToolCallStatus
from cleveragents.infrastructure.database.models import AUTHORED_CHANGES, CHANGES, TOOL_CALLS
from cleveragents.infrastructure.database.repositories.plans import RecordRepository

_CALLS = f"{TOOL_CALLS.select} WHERE plan_id = :plan_id ORDER BY sequence, tool_call_id"
_NEXT = "SELECT coalesce(max(sequence), 0) + 1 FROM tool_calls WHERE plan_id = :plan_id"
_STATUS = "SELECT status FROM tool_calls WHERE tool_call_id = :call_id"
_UNDO = (
    "UPDATE tool_calls SET undone_by = :operation_id WHERE plan_id = :plan_id"
    " AND sequence BETWEEN :first AND :last AND undone_by IS NULL"
)
_REDO = (
    "UPDATE tool_calls SET undone_by = NULL WHERE plan_id = :plan_id"
    " AND sequence BETWEEN :first AND :last AND undone_by IS NOT NULL"
)

_LAST_CHANGE = "SELECT coalesce(max(position), 0) FROM changes WHERE tool_call_id = :call_id"
_WITH_AUTHOR = (
    f"{AUTHORED_CHANGES.select} JOIN tool_calls ON tool_calls.tool_call_id = changes.tool_call_id"
)
_IN_ORDER = "ORDER BY tool_calls.sequence, changes.tool_call_id, changes.position"
_EFFECTIVE = "tool_calls.undone_by IS NULL"
# Exactly the expression of the index. The rest of a long path is compared in Python: when the
# statement compares the whole path too, SQLite does not use the index.
_OF_PATH = "substr(path, 1, 200) = substr(CAST(:path AS text), 1, 200)"
_COUNTS = (
    "SELECT coalesce(sum(changes), 0), coalesce(sum(is_file), 0) FROM"
    " (SELECT count(*) AS changes, max(CASE WHEN before_hash IS NOT NULL"
    " OR after_hash IS NOT NULL THEN 1 ELSE 0 END) AS is_file"
    " FROM changes JOIN tool_calls ON tool_calls.tool_call_id = changes.tool_call_id"
    f" WHERE changes.plan_id = :plan_id AND {_EFFECTIVE}"
    " GROUP BY changes.resource, changes.path) AS each_path"
)


class ToolCallRepository(RecordRepository, ToolCallStore):
    """Every tool call of plans."""

    def add(self, call: ToolCall) -> None:
        self._session.insert(TOOL_CALLS, TOOL_CALLS.row(call))
        facts = (call.id, call.step_index, call.tool, call.resource)
        self._events.add(ToolInvoked(call.plan_id, *facts))

    def save(self, call: ToolCall) -> None:
        before = self._session.rows(_STATUS, call_id=call.id)
        self._session.update(TOOL_CALLS, TOOL_CALLS.row(call))
        if before == [(call.status.value,)]:
            return
        taken = None if call.finished_at is None else call.finished_at - call.started_at
        milliseconds = None if taken is None else round(taken.total_seconds() * 1000)
        facts = (call.id, call.step_index, call.tool, call.resource, milliseconds)
        if call.status is ToolCallStatus.SUCCEEDED:
            self._events.add(ToolCompleted(call.plan_id, *facts))
        elif call.status is ToolCallStatus.FAILED:
            self._events.add(ToolErrored(call.plan_id, *facts, call.error or ""))

    def next_sequence(self, plan_id: str) -> int:
        [[number]] = self._session.rows(_NEXT, plan_id=plan_id)
        return number

    def list(self, plan_id: str) -> Sequence[ToolCall]:
        return self._session.find(TOOL_CALLS, _CALLS, plan_id=plan_id)

    def make_effective(self, plan_id: str, wanted: Ranges, undone_by: str) -> int:
        run = self._session.run
        undone = sum(
            run(_UNDO, plan_id=plan_id, first=first, last=last, operation_id=undone_by).rowcount
            for first, last in gaps(wanted, HIGHEST)
        )
        for first, last in wanted:
            run(_REDO, plan_id=plan_id, first=first, last=last)
        return undone


class ChangeRepository(RecordRepository, ChangeStore):
    """The changes that tool calls made."""

    def add(self, plan_id: str, call_id: str, resource: str, changes: Sequence[PathChange]) -> None:
        [[last]] = self._session.rows(_LAST_CHANGE, call_id=call_id)
        shared = {"tool_call_id": call_id, "plan_id": plan_id, "resource": resource}
        rows = [
            {**CHANGES.row(change), **shared, "position": position}
            for position, change in enumerate(changes, last + 1)
        ]
        self._session.insert(CHANGES, *rows)

    def list(
        self, plan_id: str, *, path: str | None = None, effective_only: bool = True
    ) -> Sequence[AuthoredChange]:
        conditions = [
            "changes.plan_id = :plan_id",
            *([_OF_PATH] if path is not None else []),
            *([_EFFECTIVE] if effective_only else []),
        ]
        sql = f"{_WITH_AUTHOR} WHERE {' AND '.join(conditions)} {_IN_ORDER}"
        found = self._session.find(AUTHORED_CHANGES, sql, plan_id=plan_id, path=path)
        return [change for change in found if path is None or change.path == path]

    def count(self, plan_id: str) -> ChangeCounts:
        [(changes, files)] = self._session.rows(_COUNTS, plan_id=plan_id)
        return ChangeCounts(changes=int(changes), files=int(files))
