"""Records and stored snapshots of one plan, brought back into agreement after a kill."""

from __future__ import annotations

from cleveragents.application.ports.records import Database
from cleveragents.application.ports.sandboxes import SnapshotStore


def drop_unnamed_snapshots(database: Database, snapshots: SnapshotStore, plan_id: str) -> int:
    """Drops the snapshots of a plan that no group names, and returns how many there were.

    A kill between snapshot and record leaves them, or one while pruning. The
    caller holds the plan's lease, so nobody is about to name one.
    """
    with database.read() as transaction:
        sandboxes = transaction.sandboxes.list(plan_id)
        groups = transaction.checkpoints.groups(plan_id)
    named = {snapshot for group in groups for snapshot in group.snapshots.values()}
    dropped = 0
    for sandbox in sandboxes:
        unnamed = set(snapshots.list_checkpoints(sandbox)) - named
        if unnamed:
            snapshots.delete_checkpoint(sandbox, unnamed)
        dropped += len(unnamed)
    return dropped
