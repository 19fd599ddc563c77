"""What a tool call changed, found by comparing the snapshots around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cleveragents.application.ports.records import Database
from cleveragents.application.ports.sandboxes import SnapshotStore
from cleveragents.domain.sandboxes.change import PathChange
from cleveragents.domain.sandboxes.sandbox import SandboxRef

Snapshots = Mapping[str, str]
"""The snapshot of each resource, by the resource's id."""

ResourceChanges = Sequence[tuple[SandboxRef, Sequence[PathChange]]]


def changes_between(
    sandboxes: Sequence[SandboxRef], store: SnapshotStore, before: Snapshots, after: Snapshots
) -> ResourceChanges:
    """Returns the sandboxes in which something changed, each with its changes."""
    compared = [
        (item, store.changes(item, before[item.resource_id], after[item.resource_id]))
        for item in sandboxes
    ]
    return [(sandbox, changes) for sandbox, changes in compared if changes]


def forget_unnamed(
    database: Database, store: SnapshotStore, plan_id: str, before: Snapshots, after: Snapshots
) -> None:
    """Drops the snapshots before a call that no group names, unless they are also those after."""
    passed = {key: snapshot for key, snapshot in before.items() if after.get(key) != snapshot}
    if not passed:
        return
    with database.read() as transaction:
        sandboxes = transaction.sandboxes.list(plan_id)
        unnamed = {
            key: snapshot
            for key, snapshot in passed.items()
            if not transaction.checkpoints.is_snapshot_named(plan_id, key, snapshot)
        }
    for sandbox in sandboxes:
        if sandbox.resource_id in unnamed:
            store.delete_checkpoint(sandbox, [unnamed[sandbox.resource_id]])
