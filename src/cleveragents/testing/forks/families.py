"""What the contracts of forks stand on: a sandbox, and forks of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cleveragents.application.ports.sandboxes import Sandboxes, SnapshotStore
from cleveragents.domain.sandboxes.sandbox import Resource
from cleveragents.testing.expectations import expect
from cleveragents.testing.snapshots.workspace import ContractWorkspace


@dataclass(frozen=True)
class Family:
    """A sandbox, and what forks it takes."""

    parent: ContractWorkspace
    sandboxes: Sandboxes
    store: SnapshotStore
    """The one that the sandboxes use."""
    resource: Callable[[str], Resource]
    """Gives a plan's record of the resource that the parent is a sandbox of."""

    def fork(
        self, plan_id: str, snapshot_id: str, source: ContractWorkspace | None = None
    ) -> ContractWorkspace:
        source = source or self.parent
        made = self.sandboxes.fork(
            f"SANDBOX-{plan_id}", plan_id, self.resource(plan_id), source.sandbox, snapshot_id
        )
        self.sandboxes.check(made)
        return ContractWorkspace(made, source.open_store, source.capabilities, source.environment)

    def forks(self, snapshot_id: str) -> Iterator[ContractWorkspace]:
        """Gives forks: at once, and when change times tell what was touched since."""
        yield self.fork("CHILD-AT-ONCE", snapshot_id)
        time.sleep(_SETTLED)
        yield self.fork("CHILD-LATER", snapshot_id)


_SETTLED = 0.06
MakeFamily = Callable[[], Family]


def expect_stored(child: ContractWorkspace, snapshot_id: str) -> str:
    """A first snapshot of a fork holds the same files, and costs next to nothing."""
    made = child.acts().snapshot()
    changed = child.acts().changes(snapshot_id, made.snapshot_id)
    expect([change.path for change in changed], [])
    expect(made.size_bytes < 20_000, True)
    return made.snapshot_id
