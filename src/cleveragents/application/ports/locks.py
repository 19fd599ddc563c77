"""The lease on a plan: who may change it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from cleveragents.application.ports.records import Transaction
from cleveragents.domain.plans.lease import Holder, Lease
from cleveragents.domain.plans.plan import Plan


class PlanLease(Protocol):
    """The right to change one plan and its sandboxes, for as long as the block that gave it lasts.

    Whatever changes a sandbox takes one as a parameter, so that nobody can forget to hold
    the plan. Files have no transaction that could refuse a late writer: so the lease is
    checked again immediately before they are changed.
    """

    plan_id: str

    def check(self, transaction: Transaction | None = None) -> None:
        """Raises ConflictError naming the process that took the plan over, if one did.

        MUST be called before files of the plan's sandboxes or of a project are changed. Each
        write transaction checks the lease by itself.

        Args:
            transaction: A reading one of the caller, so that it needs none of its own.
        """
        ...


class Locks(Protocol):
    """Keeps two processes from changing one plan at the same time."""

    def hold(self, plan_id: str) -> AbstractContextManager[PlanLease]:
        """Holds the plan's lease, renewed for as long as the block takes.

        Raises ConflictError naming the holder. Re-entrant within one process.
        """
        ...

    def place(self, project_key: str) -> AbstractContextManager[None]:
        """Holds the files of a project, which sessions in place work on, while the block runs.

        Raises ConflictError naming the process that holds them. Re-entrant within one process.
        """
        ...

    def turn(self, plan_id: str) -> AbstractContextManager[None]:
        """Waits until the plan may run, if only so many plans may run at the same time.

        Raises ConflictError naming the others if that takes too long. A subplan does not wait,
        because its parent has a turn.
        """
        ...

    def stop_holder(self, plan_id: str) -> None:
        """Asks the process that holds the plan to stop, and waits until it has.

        That process ends its tool and keeps what is complete, as after Ctrl-C. Does nothing if
        the process runs on another machine. The wait ends, so the plan may still be held.
        """
        ...

    def hold_below(self, plan_id: str) -> AbstractContextManager[Sequence[Plan]]:
        """Holds the leases of all plans below one; the block gets them, each after its parent.

        Raises ConflictError if another process works on one of them.
        """
        ...

    def holder(self, plan_id: str) -> Holder | None:
        """Returns the process that holds the plan, if one does."""
        ...

    def lease(self, plan_id: str) -> Lease | None:
        """Returns the lease of the process that holds the plan, if one does."""
        ...
