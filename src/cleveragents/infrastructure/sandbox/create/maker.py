"""What every way of isolating a resource can do, and the parts that they share."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Protocol

from cleveragents.domain.errors import SandboxMissingError, SnapshotError
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import Resource, SandboxRef, SandboxState


class SandboxMaker(Protocol):
    """Makes, checks and removes the sandboxes of one strategy."""

    def create(self, sandbox_id: str, plan_id: str, resource: Resource) -> SandboxRef: ...

    def check(self, sandbox: SandboxRef) -> None: ...

    def reopen(self, sandbox: SandboxRef) -> None: ...

    def attach(self, sandbox: SandboxRef) -> None:
        """Makes a directory that was put in the sandbox's place one. MUST be repeatable."""

    def remove(self, sandbox: SandboxRef) -> None: ...


def new_sandbox(
    sandbox_id: str,
    plan_id: str,
    resource: Resource,
    strategy: SandboxStrategy,
    path: Path,
    store: Path,
    created_at: datetime,
) -> SandboxRef:
    """Returns the record of a new sandbox; the caller adds what only its strategy has."""
    return SandboxRef(
        id=sandbox_id,
        plan_id=plan_id,
        resource_id=resource.id,
        resource=resource.name,
        strategy=strategy,
        path=str(path),
        branch=None,
        store=str(store),
        base_commit=None,
        state=SandboxState.CREATED,
        created_at=created_at,
    )


def require_directory(path: Path) -> None:
    """Raises SandboxMissingError unless a directory, and no link to one, is there."""
    if path.is_symlink() or not path.is_dir():
        raise SandboxMissingError(str(path), "is missing")


def make_again(path: Path) -> None:
    """Makes the directory of a sandbox that is gone.

    Raises:
        SandboxMissingError: there is something, which is not ours to touch.
    """
    with creation_errors():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            path.mkdir(mode=0o700)
        except FileExistsError as error:
            reason = "is not what was there before"
            raise SandboxMissingError(str(path), reason) from error


@contextmanager
def creation_errors() -> Generator[None]:
    """Says what a full disk or a missing permission means for a sandbox that is being made."""
    try:
        yield
    except OSError as error:
        raise SnapshotError(
            f"The sandbox could not be created: {error}",
            hint="Make room in the home directory of CleverAgents, or give permission",
        ) from error
