"""Conflicts between subplans, open and resolved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cleveragents.domain.plans.subplan_merge import OpenConflict
from cleveragents.domain.sandboxes.merge import ConflictKind
from cleveragents.domain.wording import counted
from cleveragents.reports.described import Description, Field
from cleveragents.reports.report import Report, Table

if TYPE_CHECKING:
    # `plan status` shows conflicts too, and must not pay for importing the service.
    from cleveragents.application.services.conflict_service import ConflictList

_WHAT = {
    ConflictKind.CONTENT: "both changed the same lines",
    ConflictKind.BINARY: "both changed a file that is not text",
    ConflictKind.DELETED: "one changed it, the other deleted it",
    ConflictKind.TYPE: "its type changed",
    ConflictKind.IN_THE_WAY: "a file in one, a directory in the other",
    ConflictKind.MODE: "both changed its permissions",
    ConflictKind.DATABASE: "both changed the database",
}

CONFLICT = Description[OpenConflict](
    Field("path", None, lambda it: it.conflict.path),
    Field("resource", None, lambda it: it.resource),
    Field("kind", "What", lambda it: it.conflict.kind, lambda it: _WHAT[it.conflict.kind]),
    Field(
        "marked",
        "In the sandbox",
        lambda it: it.conflict.marked,
        lambda it: "conflict markers" if it.conflict.marked else "version `mine`",
    ),
    Field("subplan", "Subplan", lambda it: it.name),
    Field("child_plan", None, lambda it: it.child_plan_id),
)


def conflict_table(conflicts: Sequence[OpenConflict], *, several: bool) -> Table:
    """Returns the open conflicts; with `several` resources, paths start with the resource."""
    path = Field[OpenConflict](None, "Path", lambda it: it.shown(several=several))
    columns = (path, "Subplan", "What", "In the sandbox")
    return CONFLICT.table("Conflicts", conflicts, columns, empty="There are no open conflicts.")


def conflicts_report(found: ConflictList) -> Report:
    plan, several = found.plan, len(found.sandboxes) > 1
    roots = {sandbox.resource: sandbox.path for sandbox in found.sandboxes}
    data: dict[str, object] = {
        "plan_id": plan.id,
        "phase": plan.phase,
        "state": plan.state,
        "conflicts": [
            {**CONFLICT.data(item), "file": f"{roots[item.resource]}/{item.conflict.path}"}
            for item in found.open
        ],
        "resolved": CONFLICT.list(found.resolved),
    }
    table = conflict_table(found.open, several=several)
    return Report(data, (table,), tuple(_messages(found)))


def _messages(found: ConflictList) -> list[str]:
    plan_id = found.plan.id
    messages = [f"{counted(len(found.resolved), 'conflict')} resolved"] if found.resolved else []
    if found.open:
        messages += [f"The sandbox is {path}" for path in _sandboxes(found)]
        messages.append(f"Run `agents plan conflicts {plan_id} --take mine|theirs|edited PATH`")
    elif found.resolved:
        messages.append(f"Run `agents plan resume {plan_id}` to continue")
    return messages


def _sandboxes(found: ConflictList) -> list[str]:
    """Returns the sandboxes that have an open conflict."""
    concerned = {item.resource for item in found.open}
    return [sandbox.path for sandbox in found.sandboxes if sandbox.resource in concerned]
