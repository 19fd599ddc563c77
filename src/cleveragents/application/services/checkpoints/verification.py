"""What the records say that there is to go back to, and the snapshots that needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointGroup
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import SandboxRef

Stored = tuple[str, str]
"""A snapshot's id, behind the store that has its bytes or the id of the sandbox it is of."""


@dataclass(frozen=True)
class KeptCheckpoints:
    """The checkpoints of one plan, those set aside included."""

    plan_id: str
    sandboxes: Sequence[SandboxRef]
    checkpoints: Sequence[Checkpoint]
    groups: Mapping[str, CheckpointGroup]

    @property
    def reversible(self) -> KeptCheckpoints:
        """The same without the resources of which nothing is kept."""
        kept = [item for item in self.sandboxes if item.strategy is not SandboxStrategy.NONE]
        return replace(self, sandboxes=kept)

    def needed(self, chosen: Sequence[Checkpoint]) -> dict[Stored, SandboxRef]:
        """Returns the snapshots that going back to these needs, each with a sandbox it is of."""
        return {
            (sandbox.store, snapshots[sandbox.resource_id]): sandbox
            for snapshots in map(self._snapshots_at, chosen)
            for sandbox in self.sandboxes
            if sandbox.resource_id in snapshots
        }

    def of_sandbox(self, sandbox: SandboxRef) -> list[Stored]:
        """Returns the snapshots of one sandbox that a group names."""
        found = (group.snapshots.get(sandbox.resource_id) for group in self.groups.values())
        return [(sandbox.id, snapshot) for snapshot in dict.fromkeys(found) if snapshot is not None]

    def problem_of(self, checkpoint: Checkpoint, problems: Mapping[Stored, str]) -> str | None:
        """Returns what is wrong with any snapshot that going back there needs.

        Args:
            checkpoint: Where to.
            problems: What is wrong with the bytes in a store, or with what a sandbox keeps.
        """
        found: list[str] = []
        for (store, snapshot), sandbox in self.needed([checkpoint]).items():
            lost = problems.get((sandbox.id, snapshot))
            found.append(problems.get((store, snapshot), lost or ""))
        return "; ".join(filter(None, found)) or None

    def _snapshots_at(self, checkpoint: Checkpoint) -> Mapping[str, str]:
        group = self.groups.get(checkpoint.group_id)
        return {} if group is None else group.snapshots
