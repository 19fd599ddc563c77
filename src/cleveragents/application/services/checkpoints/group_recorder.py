"""The records of one moment, made in the transaction that stores them."""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.application.ports.records import Transaction
from cleveragents.application.ports.system import Clock, IdSource
from cleveragents.application.services.checkpoints.milestone import (
    Milestone,
    Taken,
    checkpoint_of,
    recorded,
    snapshot_ids,
)
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointGroup, Lineage
from cleveragents.domain.plans.plan import Plan


class GroupRecorder:
    """Makes groups and their checkpoints; storing them is up to the caller."""

    def __init__(self, clock: Clock, id_source: IdSource) -> None:
        self._clock = clock
        self._ids = id_source

    def records(
        self, transaction: Transaction, plan: Plan, moment: Milestone, taken: Sequence[Taken]
    ) -> tuple[CheckpointGroup, list[Checkpoint]]:
        """Returns the next group of the plan.

        Args:
            transaction: The one that will store it.
            plan: The plan as it is in it.
            moment: Where the plan is, and why a checkpoint is made.
            taken: The snapshots.
        """
        group_sequence, sequence = transaction.checkpoints.next_sequence(plan.id)
        before = _group_it_is_at(transaction, plan)
        effective = transaction.checkpoints.effective_records(plan.id)
        group = CheckpointGroup(
            id=self._ids.new(),
            plan_id=plan.id,
            sequence=group_sequence,
            created_at=self._clock.now(),
            snapshots=snapshot_ids(taken),
            state_hashes={sandbox.resource_id: made.state_hash for sandbox, made in taken},
            pinned=False,
            set_aside_by=None,
            way=Lineage(
                groups=effective.groups,
                decisions=effective.decisions,
                # Before the first correction they follow from the plan itself.
                choices=plan.choices if plan.attempt > 1 else None,
            ),
        )
        checkpoints = [
            checkpoint_of(
                self._ids.new(), group, sequence + offset, plan, moment, item, effective.calls
            )
            for offset, item in enumerate(recorded(taken, before))
        ]
        return group, checkpoints


def _group_it_is_at(transaction: Transaction, plan: Plan) -> CheckpointGroup | None:
    """Returns what the plan's next checkpoint is compared with.

    The newest group may hold what a killed run left, from which nothing goes on.
    """
    if plan.last_checkpoint_id is None:
        return None
    return transaction.checkpoints.group_of(plan.last_checkpoint_id)
