"""A plan and all that was spawned below it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime

from cleveragents.application.ports.locks import Locks
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.domain.plans.plan import TRANSITIONS, Plan, PlanAction


def descendants(transaction: Transaction, plan_id: str) -> list[Plan]:
    """Returns children, their children and so on, each after its parent."""
    found: list[Plan] = []
    for child in transaction.plans.children(plan_id):
        found += [child, *descendants(transaction, child.id)]
    return found


def cancel(transaction: Transaction, plan: Plan, reason: str | None, now: datetime) -> list[Plan]:
    """Gives up a plan and what is below it; returns them as they were before.

    Below it, what has ended for good stays as it is.

    Raises:
        PlanStateError: the plan itself is cancelled or applied already.
    """
    below = [
        child
        for child in descendants(transaction, plan.id)
        if (child.phase, child.state, PlanAction.CANCEL) in TRANSITIONS
    ]
    for member in (plan, *below):
        given_up = member.after(PlanAction.CANCEL, now)
        transaction.plans.save(given_up.model_copy(update={"cancel_reason": reason}))
    return [plan, *below]


@contextmanager
def held_below(database: Database, locks: Locks, plan_id: str) -> Generator[Sequence[Plan]]:
    """Holds the leases of all plans below one: nobody else runs them meanwhile.

    Raises:
        ConflictError: a process is working on one of them.
    """
    with database.read() as transaction:
        family = descendants(transaction, plan_id)
    with ExitStack() as held:
        for member in family:
            held.enter_context(locks.hold(member.id))
        yield family
