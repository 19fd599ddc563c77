"""Conflicts of subplans, open and resolved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cleveragents.domain.merge import ConflictKind
from cleveragents.domain.subplan_merge import OpenConflict
from cleveragents.reports.report import Report, Table
from cleveragents.reports.words import counted

if TYPE_CHECKING:
    # `plan status` shows conflicts too, and needs no service for that.
    from cleveragents.application.services.conflict_service import Conflicts

_WHAT = {
    ConflictKind.CONTENT: "both changed the same lines",
    ConflictKind.BINARY: "both changed it, and it is not text",
    ConflictKind.DELETED: "one changed it, the other deleted it",
    ConflictKind.TYPE: "it became something else",
    ConflictKind.IN_THE_WAY: "a file of one, a directory of the other",
    ConflictKind.MODE: "both changed its permissions",
    ConflictKind.DATABASE: "both changed the database",
}


def conflict_data(item: OpenConflict) -> dict[str, object]:
    """Returns a conflict as documents have it."""
    return {
        "path": item.conflict.path,
        "resource": item.resource,
        "kind": item.conflict.kind.value,
        "marked": item.conflict.marked,
        "subplan": item.name,
        "child_plan": item.child_plan_id,
    }


def conflict_table(conflicts: Sequence[OpenConflict], *, several: bool) -> Table:
    """Returns the open conflicts; with several resources a path names its own first."""
    rows = tuple(
        (
            item.shown(several=several),
            item.name,
            _WHAT[item.conflict.kind],
            "marked in the file" if item.conflict.marked else "the file is as `mine`",
        )
        for item in conflicts
    )
    headings = ("Path", "Subplan", "What", "In the sandbox")
    return Table("Conflicts", headings, rows, empty="None is open.")


def conflicts_report(found: Conflicts) -> Report:
    plan, several = found.plan, len(found.sandboxes) > 1
    roots = {sandbox.resource: sandbox.path for sandbox in found.sandboxes}
    data: dict[str, object] = {
        "plan_id": plan.id,
        "phase": plan.phase.value,
        "state": plan.state.value,
        "conflicts": [
            {**conflict_data(item), "file": f"{roots[item.resource]}/{item.conflict.path}"}
            for item in found.open
        ],
        "resolved": [conflict_data(item) for item in found.resolved],
    }
    table = conflict_table(found.open, several=several)
    return Report(data, (table,), tuple(_messages(found)))


def _messages(found: Conflicts) -> list[str]:
    plan_id = found.plan.id
    said = [f"{counted(len(found.resolved), 'conflict')} resolved"] if found.resolved else []
    if found.open:
        said += [f"The sandbox is {path}" for path in _places(found)]
        said.append(f"Run `agents plan conflicts {plan_id} --take mine|theirs|edited PATH`")
    elif found.resolved:
        said.append(f"Run `agents plan resume {plan_id}` to go on")
    return said


def _places(found: Conflicts) -> list[str]:
    """Returns the sandboxes that have something open."""
    concerned = {item.resource for item in found.open}
    return [sandbox.path for sandbox in found.sandboxes if sandbox.resource in concerned]
