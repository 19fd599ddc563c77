"""Cancelling a plan with all that was spawned below it."""

from __future__ import annotations

from datetime import datetime

from msgspec.structs import replace

from cleveragents.application.ports.records import Transaction
from cleveragents.domain.plans.plan import TRANSITIONS, Plan, PlanAction


def cancel(transaction: Transaction, plan: Plan, reason: str | None, now: datetime) -> list[Plan]:
    """Cancels a plan and what is below it; returns them as they were before.

    Plans below it that have ended for good stay as they are.

    Raises:
        PlanStateError: the plan itself is cancelled or applied already.
    """
    below = [
        child
        for child in transaction.plans.descendants(plan.id)
        if (child.phase, child.state, PlanAction.CANCEL) in TRANSITIONS
    ]
    for member in (plan, *below):
        given_up = member.after(PlanAction.CANCEL, now)
        transaction.plans.save(replace(given_up, cancel_reason=reason))
    return [plan, *below]
