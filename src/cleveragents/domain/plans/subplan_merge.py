"""The results of merging child plans into their parent, and which conflicts are still open.

A merge is a tool call of the parent, and so is the resolution of conflicts. A rollback
therefore undoes both, and an undo restores them, like everything else that a plan did.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from enum import StrEnum

from cleveragents.domain.plans.subplan import SPAWN_SUBPLAN
from cleveragents.domain.record import JsonValue, Record
from cleveragents.domain.sandboxes.merge import MergeConflict
from cleveragents.domain.tools.tool import ToolCall, ToolCallStatus

RESOLVE_CONFLICT = "resolve-conflict"
"""The tool name of the calls that record a resolution."""


class ConflictResolution(StrEnum):
    """Which version is used where parent and child conflict."""

    MINE = "mine"
    """The parent's, including what other children contributed."""
    THEIRS = "theirs"
    """The child's."""
    EDITED = "edited"
    """What the parent's sandbox contains now: the user edited it."""


class ResourceMerge(Record):
    """What a merge did to one resource."""

    resource: str
    merged: tuple[str, ...]
    conflicts: tuple[MergeConflict, ...]
    mine: str
    """The snapshot of the parent before the merge."""
    theirs: str
    """The snapshot of the child that was merged."""


class SubplanMerge(Record):
    """What a merge of one child did; stored as the output of its tool call."""

    name: str
    child_plan_id: str
    resources: tuple[ResourceMerge, ...]

    @classmethod
    def read(cls, output: str) -> SubplanMerge:
        return cls.model_validate(json.loads(output))

    def written(self) -> str:
        return json.dumps(self.model_dump(mode="json"), ensure_ascii=False, separators=(",", ":"))

    @property
    def has_conflicts(self) -> bool:
        return any(part.conflicts for part in self.resources)


class OpenConflict(Record):
    """A conflicting path that is not resolved yet."""

    call_id: str
    """The tool call of the merge."""
    step_index: int
    name: str
    child_plan_id: str
    resource: str
    conflict: MergeConflict
    mine: str
    theirs: str

    def shown(self, *, several: bool) -> str:
        """Returns the path as messages name it; with several resources, after the resource."""
        return f"{self.resource}/{self.conflict.path}" if several else self.conflict.path


def merge_input(name: str, child_plan_id: str) -> dict[str, JsonValue]:
    """Returns the input of the tool call that merges a child."""
    return {"plan": name, "plan_id": child_plan_id}


def merged_children(calls: Iterable[ToolCall]) -> dict[str, SubplanMerge]:
    """Returns the merges that are in effect, by the id of the child."""
    return {merge.child_plan_id: merge for _, merge in _merges(calls)}


def open_conflicts(calls: Sequence[ToolCall]) -> list[OpenConflict]:
    """Returns the unresolved conflicts of a plan's merges, oldest first."""
    resolved = {
        (str(call.input["merge"]), str(resource), str(path))
        for call in calls
        if call.tool == RESOLVE_CONFLICT and _counts(call)
        for resource, path in _pairs(call.input.get("paths"))
    }
    return [
        OpenConflict(
            call_id=call.id,
            step_index=call.step_index,
            name=merge.name,
            child_plan_id=merge.child_plan_id,
            resource=part.resource,
            conflict=conflict,
            mine=part.mine,
            theirs=part.theirs,
        )
        for call, merge in _merges(calls)
        for part in merge.resources
        for conflict in part.conflicts
        if (call.id, part.resource, conflict.path) not in resolved
    ]


def _merges(calls: Iterable[ToolCall]) -> list[tuple[ToolCall, SubplanMerge]]:
    return [
        (call, SubplanMerge.read(call.output or ""))
        for call in calls
        if call.tool == SPAWN_SUBPLAN and _counts(call)
    ]


def _counts(call: ToolCall) -> bool:
    return call.undone_by is None and call.status is ToolCallStatus.SUCCEEDED


def _pairs(value: JsonValue) -> list[tuple[JsonValue, JsonValue]]:
    pairs = value if isinstance(value, list) else []
    return [(pair[0], pair[1]) for pair in pairs if isinstance(pair, list)]
