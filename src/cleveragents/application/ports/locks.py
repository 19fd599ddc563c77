"""The lease on a plan: who may change it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from cleveragents.domain.plans.lease import Holder, Lease


class Locks(Protocol):
    """Keeps two processes from changing one plan at the same time."""

    def hold(self, plan_id: str) -> AbstractContextManager[Lease]:
        """Holds the plan's lease, renewed for as long as the block takes.

        Raises ConflictError naming the holder. Re-entrant within one process.
        """
        ...

    def check(self, plan_id: str) -> None:
        """Makes sure that this process, which holds the plan, still does.

        MUST be called before files of the plan's sandboxes are restored; writes to
        the database are checked by themselves. Raises ConflictError naming whoever
        took the plan over.
        """
        ...

    def holder(self, plan_id: str) -> Holder | None:
        """Returns the process that holds the plan, if one does."""
        ...
