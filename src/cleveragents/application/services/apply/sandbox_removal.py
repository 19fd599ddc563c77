"""Removing the sandboxes of a plan that has ended.

The record comes first, together with the end of the plan; then the files are removed. So a kill
leaves files that no record claims, which the next command on the plan, `gc` or `doctor` removes.
"""

from __future__ import annotations

from msgspec.structs import replace

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.sandboxes import Sandboxes
from cleveragents.application.ports.system import FaultPoints
from cleveragents.domain.errors import CleverAgentsError
from cleveragents.domain.sandboxes.sandbox import SandboxState


def give_up_sandboxes(transaction: Transaction, plan_id: str) -> None:
    """Records that the sandboxes of a plan may be removed; never the resource itself."""
    for sandbox in transaction.sandboxes.list(plan_id):
        if sandbox.strategy.is_private:
            gone = replace(sandbox, state=SandboxState.CLEANED_UP)
            transaction.sandboxes.save(gone)


class SandboxRemoval:
    """Removes the files of discarded sandboxes. The caller holds the plan's lease."""

    def __init__(self, database: Database, sandboxes: Sandboxes, faults: FaultPoints) -> None:
        self._database = database
        self._sandboxes = sandboxes
        self._faults = faults

    def remove_given_up(self, plan_id: str) -> list[str]:
        """Removes what is still there; returns a sentence for each one that stays."""
        with self._database.read() as transaction:
            sandboxes = transaction.sandboxes.list(plan_id)
        problems: list[str] = []
        for sandbox in sandboxes:
            if sandbox.state is SandboxState.CLEANED_UP:
                try:
                    self._sandboxes.remove(sandbox)
                except CleverAgentsError as error:
                    problems.append(error.message)
                self._faults.reach(FaultPoint.SANDBOX_REMOVED)
        return problems
