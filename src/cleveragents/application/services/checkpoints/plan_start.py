"""What a plan started from: its changes are the difference between that and its last snapshot.

The store keeps it by itself, because the checkpoint of that moment can be pruned or deleted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cleveragents.application.ports.locks import PlanLease
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.sandboxes import SnapshotStore
from cleveragents.domain.checkpoints.checkpoint import CheckpointType
from cleveragents.domain.errors import CheckpointRequiredError
from cleveragents.domain.sandboxes.sandbox import SandboxRef


def keep_start(
    database: Database,
    snapshots: SnapshotStore,
    lease: PlanLease,
    sandboxes: Sequence[SandboxRef],
) -> None:
    """Keeps what the sandboxes held before the first step, while a checkpoint still says so."""
    with database.read() as transaction:
        start = first_snapshots(transaction, lease.plan_id)
    for sandbox in sandboxes:
        if sandbox.resource_id in start:
            with snapshots.lock(sandbox, lease) as locked:
                locked.keep_start(start[sandbox.resource_id])


def plan_start(
    snapshots: SnapshotStore, sandboxes: Sequence[SandboxRef], first: Mapping[str, str]
) -> dict[str, str]:
    """Returns what each sandbox held before the first step, by the id of its resource.

    Args:
        snapshots: The snapshots.
        sandboxes: The sandboxes of the plan.
        first: What `first_snapshots` returns. It counts where nothing was kept: an earlier
            version made the plan, or a kill came first.

    Raises:
        CheckpointRequiredError: nothing says so.
    """
    found: dict[str, str] = {}
    for sandbox in sandboxes:
        with snapshots.open(sandbox) as opened:
            kept = opened.start() or first.get(sandbox.resource_id)
        if kept is None:
            raise CheckpointRequiredError(
                "The sandbox was not stored before the first step, so what changed is unknown",
                hint="Run the plan again with `policy.require_checkpoints: true`",
            )
        found[sandbox.resource_id] = kept
    return found


def first_snapshots(transaction: Transaction, plan_id: str) -> Mapping[str, str]:
    """Returns the snapshots of the plan's first group, if it is from before the first step."""
    for group in transaction.checkpoints.groups(plan_id)[:1]:
        for checkpoint in transaction.checkpoints.list(plan_id, set_aside=True):
            is_start = checkpoint.checkpoint_type is CheckpointType.PRE_EXECUTE
            if checkpoint.group_id == group.id and is_start:
                return group.snapshots
    return {}
