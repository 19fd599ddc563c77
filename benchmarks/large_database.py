"""A database as long use leaves it: 1,000 plans with 50 checkpoints each."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointGroup
from cleveragents.infrastructure.database.unit_of_work import Connections, SqlDatabase, UnitOfWork
from cleveragents.infrastructure.system import MonotonicUlids, SystemClock
from cleveragents.testing import sample_records as sample

PLANS = 1_000
CHECKPOINTS_PER_PLAN = 50
_IDS = MonotonicUlids()


def build(home: Path, project: Path, plans: int = PLANS) -> str:
    """Creates the database of a home, and returns the id of the newest plan of the project."""
    with (
        closing(Connections(None, home)) as connections,
        SqlDatabase(connections, SystemClock()).write() as transaction,
    ):
        return [_plan(transaction, number, str(project)) for number in range(plans)][-1]


def _plan(transaction: UnitOfWork, number: int, project: str) -> str:
    plan_id = _IDS.new()
    found = [_moment(plan_id, sequence) for sequence in range(1, CHECKPOINTS_PER_PLAN + 1)]
    plan = replace(sample.plan(plan_id, number), name=f"local/plan-{number}", project=project)
    transaction.plans.add(replace(plan, last_checkpoint_id=found[-1][1].id))
    resource = sample.resource(found[0][1].resource_id, plan_id)
    transaction.sandboxes.add_resource(replace(resource, name="project"))
    for group, checkpoint in found:
        transaction.checkpoints.add_group(group, [checkpoint])
    return plan_id


def _moment(plan_id: str, sequence: int) -> tuple[CheckpointGroup, Checkpoint]:
    """One state of the plan: a group with the checkpoint of its one resource."""
    group_id, resource_id = _IDS.new(), f"resource of {plan_id}"
    group = replace(
        sample.group(sequence, plan_id),
        id=group_id,
        snapshots={resource_id: f"{sequence:040x}"},
        state_hashes={resource_id: f"{sequence:040x}"},
    )
    checkpoint = replace(
        sample.checkpoint(sequence, plan_id),
        id=_IDS.new(),
        group_id=group_id,
        resource_id=resource_id,
        decision_id=None,
    )
    return group, checkpoint
