"""Writing a plan's result into the resources themselves."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from cleveragents.domain.plans.apply import ApplyRequest, Target, TargetWork


class OpenTarget(Protocol):
    """One resource, while a planned result is written into it or undone.

    Each act MUST be repeatable, also after a kill in the middle of it and by another process,
    and MUST find out from the disk how far an earlier attempt came.
    """

    def lock(self) -> None:
        """Keeps other programs out as far as the resource allows it, and checks it once more.

        Raises ConflictError when another program is working on it, or has changed it since `plan`.
        """
        ...

    def write(self) -> None:
        """Writes everything that can be undone file by file."""
        ...

    def settle(self) -> None:
        """Makes it count: moves branch and index, and releases the lock."""
        ...

    def release(self) -> None:
        """Removes what is beside the resource for the sake of undoing; all are settled now.

        MUST NOT raise. `undo` MUST still work afterwards.
        """
        ...

    def undo(self) -> None:
        """Restores the resource as `plan` saw it, from wherever the other acts came to.

        Raises ConflictError for what another program has changed since.
        """
        ...

    def finish(self) -> None:
        """Tidies up once the apply is recorded. MUST NOT raise: the apply is done already."""
        ...


class Targets(Protocol):
    """The resources themselves: what a plan's result makes of them."""

    def plan(self, work: TargetWork, request: ApplyRequest) -> Target:
        """Finds out what will become of the resource, and stores what doing and undoing it needs.

        MUST leave the resource byte-identical, and MUST NOT run anything of it. Raises
        TargetRefusedError or UncommittedChangesError where it cannot be done, and
        MergeConflictError for what both have changed.
        """
        ...

    def reverse(self, target: Target) -> Target:
        """Finds out how an apply to the resource is undone, or how that undo is.

        Stores what doing and undoing it needs, and MUST leave the resource byte-identical.
        Raises ChangedSinceApplyError where the resource is not as `target` left it.
        """
        ...

    def open(self, target: Target) -> AbstractContextManager[OpenTarget]:
        """Opens what `plan` or `reverse` has stored, for a block."""
        ...
