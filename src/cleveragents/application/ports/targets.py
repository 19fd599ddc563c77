"""Writing a plan's result into the resources themselves."""

from __future__ import annotations

from typing import Protocol

from cleveragents.domain.plans.apply import ApplyRequest, Target, TargetWork


class Targets(Protocol):
    """The resources themselves, and bringing a plan's result into them.

    `plan` looks, the other acts do. Each of these MUST be repeatable, also after a kill in the
    middle of it, and MUST find out from the disk how far an earlier attempt came.
    """

    def plan(self, work: TargetWork, request: ApplyRequest) -> Target:
        """Says what is to become of the resource, and keeps what is needed to do and undo it.

        MUST leave the resource byte-identical, and MUST NOT run anything of it. Raises
        TargetRefusedError, UncommittedChangesError or MergeConflictError where it cannot be
        done, and MergeConflictError for what both have changed.
        """
        ...

    def lock(self, target: Target) -> None:
        """Keeps other programs out as far as the resource has a way to, and looks once more.

        Raises ConflictError when somebody else is at work, or has been since `plan`.
        """
        ...

    def write(self, target: Target) -> None:
        """Brings in everything that can be taken back file by file."""
        ...

    def settle(self, target: Target) -> None:
        """Makes it count: branch and index move, the lock goes."""
        ...

    def undo(self, target: Target) -> None:
        """Makes the resource what it was when `plan` saw it, from wherever the others came to.

        Raises ConflictError for what somebody else has changed since.
        """
        ...

    def finish(self, target: Target) -> None:
        """Tidies up once the apply is recorded. MUST NOT raise: it is done already."""
        ...
