"""How a session ends: with a checkpoint, and complete whatever its command returned.

A session whose command never began is cancelled.
"""

from __future__ import annotations

from msgspec.structs import replace

from cleveragents.application.events import WarningIssued
from cleveragents.application.ports.locks import PlanLease
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.system import Clock, EventSink
from cleveragents.application.services.apply.sandbox_removal import (
    SandboxRemoval,
    give_up_sandboxes,
)
from cleveragents.application.services.checkpoint_service import CheckpointService, Milestone
from cleveragents.domain.checkpoints.checkpoint import CheckpointType
from cleveragents.domain.errors import (
    CheckpointRequiredError,
    SandboxMissingError,
    SnapshotError,
)
from cleveragents.domain.plans.plan import Plan, PlanAction
from cleveragents.domain.plans.session import SessionTrigger
from cleveragents.domain.sandboxes.resource import SandboxStrategy

KILLED = "the session was found ended"
NEVER_STARTED = "killed before the command started"


class SessionEnd:
    """Records the end of a session: `agents run` when it sees it, `Recovery` when nobody did."""

    def __init__(
        self,
        database: Database,
        checkpoints: CheckpointService,
        removal: SandboxRemoval,
        clock: Clock,
        events: EventSink,
    ) -> None:
        self._database = database
        self._checkpoints = checkpoints
        self._removal = removal
        self._clock = clock
        self._events = events

    def note_exit_code(self, plan_id: str, exit_code: int) -> None:
        """Records how the command ended, while the session goes on."""

        def noted(_: Transaction, latest: Plan) -> Plan:
            known = latest.session and replace(latest.session, exit_code=exit_code)
            return replace(latest, session=known)

        self._checkpoints.store(plan_id, noted)

    def call_off(self, plan_id: str, reason: str) -> None:
        """Cancels a session whose command has not started, and removes its sandbox."""
        now = self._clock.now()
        with self._database.write(plan_id) as transaction:
            latest = transaction.plans.get(plan_id).after(PlanAction.CANCEL, now)
            transaction.plans.save(replace(latest, cancel_reason=reason, finished_at=now))
            give_up_sandboxes(transaction, plan_id)
        self._removal.remove_given_up(plan_id)

    def record(self, lease: PlanLease, plan: Plan, reason: str) -> None:
        """Takes the last checkpoint, and makes the plan complete in the same transaction.

        A checkpoint that cannot be made is a warning: the session has ended all the same.
        """

        def ended(_: Transaction, latest: Plan) -> Plan:
            now = self._clock.now()
            return replace(latest.after(PlanAction.FINISH, now), finished_at=now, error=None)

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
        self._remove_unchanged(plan.id)

    def _remove_unchanged(self, plan_id: str) -> None:
        """Removes the layer of a private view in which nothing was changed."""
        with self._database.read() as transaction:
            groups = transaction.checkpoints.groups(plan_id)
            sandboxes = transaction.sandboxes.list(plan_id)
        is_view = all(item.strategy is SandboxStrategy.PRIVATE_VIEW for item in sandboxes)
        states = {tuple(sorted(group.snapshots.items())) for group in groups}
        if not is_view or len(states) != 1:
            return
        with self._database.write(plan_id) as transaction:
            give_up_sandboxes(transaction, plan_id)
        self._removal.remove_given_up(plan_id)
