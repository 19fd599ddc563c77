"""What tool calls did to paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, bindparam, case, func, or_, select, text

from cleveragents.application.ports import ChangeStore
from cleveragents.domain.change import AuthoredChange, ChangeCounts, PathChange
from cleveragents.infrastructure.database.column_types import escape
from cleveragents.infrastructure.database.models import ChangeModel, ToolCallModel
from cleveragents.infrastructure.database.models.changes import PATH_START
from cleveragents.infrastructure.database.repositories import rows
from cleveragents.infrastructure.database.statements import Statement

_CHANGES, _CALLS = ChangeModel.table(), ToolCallModel.table()
_OF_CALL = _CHANGES.c.tool_call_id == bindparam("call")
_LAST = Statement(
    select(func.coalesce(func.max(_CHANGES.c.position), 0).label("last")).where(_OF_CALL)
)
_WITH_AUTHOR = (
    select(_CHANGES, _CALLS.c.sequence, _CALLS.c.step_index, _CALLS.c.tool, _CALLS.c.undone_by)
    .join(_CALLS, _CALLS.c.tool_call_id == _CHANGES.c.tool_call_id)
    .order_by(_CALLS.c.sequence, _CHANGES.c.tool_call_id, _CHANGES.c.position)
)
_OF_PLAN = _WITH_AUTHOR.where(_CHANGES.c.plan_id == bindparam("plan"))
_EFFECTIVE = _CALLS.c.undone_by.is_(None)
# As it is written in the index. The rest of a long path is compared here: asked for the whole
# path as well, SQLite puts that into the expression and does not see the index any more.
_OF_PATH = func.substr(_CHANGES.c.path, text("1"), text(str(PATH_START))) == bindparam("start")


def _chosen(query: Select[Any], *, of_path: bool, effective_only: bool) -> Statement:
    query = query.where(_OF_PATH) if of_path else query
    return Statement(query.where(_EFFECTIVE) if effective_only else query)


_LISTS = {
    (of_path, effective_only): _chosen(_OF_PLAN, of_path=of_path, effective_only=effective_only)
    for of_path in (False, True)
    for effective_only in (False, True)
}
_BY_CALL = Statement(_WITH_AUTHOR.where(_OF_CALL))

_IS_FILE = or_(_CHANGES.c.before_hash.is_not(None), _CHANGES.c.after_hash.is_not(None))
_EACH_PATH = (
    select(func.count().label("changes"), func.max(case((_IS_FILE, 1), else_=0)).label("is_file"))
    .join_from(_CHANGES, _CALLS, _CALLS.c.tool_call_id == _CHANGES.c.tool_call_id)
    .where(_CHANGES.c.plan_id == bindparam("plan"), _EFFECTIVE)
    .group_by(_CHANGES.c.resource, _CHANGES.c.path)
    .subquery()
)
_COUNTS = Statement(
    select(
        func.coalesce(func.sum(_EACH_PATH.c.changes), 0).label("changes"),
        func.coalesce(func.sum(_EACH_PATH.c.is_file), 0).label("files"),
    )
)


class ChangeRepository(ChangeStore):
    """The changes of tool calls."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, plan_id: str, call_id: str, resource: str, changes: Sequence[PathChange]) -> None:
        last = sum(row.last for row in _LAST.rows(self._connection, {"call": call_id}))
        many = [
            ChangeModel.from_domain(plan_id, call_id, resource, position, change)
            for position, change in enumerate(changes, last + 1)
        ]
        rows.add_all(self._connection, _CHANGES, many, "change of the tool call")

    def list(
        self, plan_id: str, *, path: str | None = None, effective_only: bool = True
    ) -> Sequence[AuthoredChange]:
        if path is None:
            return self._records(_LISTS[False, effective_only], {"plan": plan_id})
        values = {"plan": plan_id, "start": escape(path)[:PATH_START]}
        found = self._records(_LISTS[True, effective_only], values)
        return [change for change in found if change.path == path]

    def of_call(self, call_id: str) -> Sequence[AuthoredChange]:
        return self._records(_BY_CALL, {"call": call_id})

    def count(self, plan_id: str) -> ChangeCounts:
        (found,) = _COUNTS.rows(self._connection, {"plan": plan_id})
        return ChangeCounts(changes=int(found.changes), files=int(found.files))

    def _records(self, statement: Statement, values: Mapping[str, str]) -> Sequence[AuthoredChange]:
        found = statement.rows(self._connection, values)
        return rows.records(found, ChangeModel.to_domain, "change")
