"""How a session ends: with a checkpoint, and complete whatever its command returned.

A session whose command never began is cancelled.
"""

from __future__ import annotations

from msgspec.structs import replace

from cleveragents.application.events import WarningIssued
from cleveragents.application.ports.locks import PlanLease
from cleveragents.application.ports.records import Transaction
from cleveragents.application.ports.system import Clock, EventSink
from cleveragents.application.services.apply.sandbox_removal import give_up_sandboxes
from cleveragents.application.services.checkpoint_service import CheckpointService, Milestone
from cleveragents.domain.checkpoints.checkpoint import CheckpointType
from cleveragents.domain.errors import (
    CheckpointRequiredError,
    SandboxMissingError,
    SnapshotError,
)
from cleveragents.domain.plans.plan import Plan, PlanAction
from cleveragents.domain.plans.session import SessionTrigger

KILLED = "the session was found ended"
NOT_BEGUN = "the process was killed before the command began"


class SessionEnd:
    """Records the end of a session: `agents run` when it sees it, `Recovery` when nobody did."""

    def __init__(self, checkpoints: CheckpointService, clock: Clock, events: EventSink) -> None:
        self._checkpoints = checkpoints
        self._clock = clock
        self._events = events

    def record(self, lease: PlanLease, plan: Plan, exit_code: int | None, reason: str) -> None:
        """Takes the last checkpoint, and makes the plan complete in the same transaction.

        A checkpoint that cannot be made is a warning: the session has ended all the same.
        """

        def ended(_: Transaction, latest: Plan) -> Plan:
            now = self._clock.now()
            known = latest.session and replace(latest.session, exit_code=exit_code)
            return replace(
                latest.after(PlanAction.FINISH, now), session=known, finished_at=now, error=None
            )

        moment = Milestone(
            CheckpointType.POST_EXECUTE,
            label="end of the session",
            reason=reason,
            step_index=0,
            trigger=SessionTrigger.END,
        )
        try:
            self._checkpoints.create_as_required(lease, plan, moment, ended)
        except (CheckpointRequiredError, SandboxMissingError, SnapshotError) as error:
            self._checkpoints.store(plan.id, ended)
            self._events.emit(WarningIssued(error.message))

    def cancel(self, plan_id: str, reason: str) -> None:
        """Cancels a session without a first checkpoint; its sandboxes may be removed then."""

        def cancelled(transaction: Transaction, latest: Plan) -> Plan:
            now = self._clock.now()
            give_up_sandboxes(transaction, plan_id)
            plan = latest.after(PlanAction.CANCEL, now)
            return replace(plan, cancel_reason=reason, finished_at=now)

        self._checkpoints.store(plan_id, cancelled)
