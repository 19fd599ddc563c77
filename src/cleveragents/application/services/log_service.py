"""LogService: what happened to a plan."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from cleveragents.application.ports import Database
from cleveragents.domain.events import StoredEvent
from cleveragents.domain.operation import Operation


@dataclass(frozen=True)
class PlanLog:
    """What happened to a plan, oldest first."""

    plan_id: str
    events: Sequence[StoredEvent]
    operations: Sequence[Operation]
    first_checkpoints: Mapping[str, str]
    """The id of the first checkpoint of each group that is still kept, by group."""


class LogService:
    """Reads what the other services' records have left behind."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def log(self, plan_id: str, types: Collection[str] | None) -> PlanLog:
        """Returns the plan's events, all or those of some types, and all its operations.

        Raises:
            PlanNotFoundError: there is no such plan.
        """
        with self._database.read() as transaction:
            transaction.plans.get(plan_id)
            checkpoints = transaction.checkpoints.list(plan_id, set_aside=True)
            return PlanLog(
                plan_id=plan_id,
                events=transaction.events.list(plan_id, types=types),
                operations=transaction.operations.list(plan_id),
                first_checkpoints={item.group_id: item.id for item in reversed(checkpoints)},
            )
