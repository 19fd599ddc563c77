"""Sessions: plans whose work is done by a program that is not ours."""

from __future__ import annotations

from enum import StrEnum

from cleveragents.domain.record import Record
from cleveragents.domain.sandboxes.resource import SandboxStrategy


class PlanKind(StrEnum):
    """What does the work of a plan: the steps of a file, or a program that runs in a session."""

    FILE = "file"
    SESSION = "session"


class Isolation(StrEnum):
    """Where the program of a session works."""

    AUTO = "auto"
    """In a private view, or where the user says if that is impossible."""
    PRIVATE = "private"
    """In a view of the project at the project's own path."""
    IN_PLACE = "in-place"
    """On the user's own files."""
    COPY = "copy"
    """In a worktree or copy elsewhere."""


class SessionTrigger(StrEnum):
    """What makes a checkpoint in a session, whatever the configuration says."""

    START = "session_start"
    END = "session_end"


class SessionRecord(Record):
    """What is known of the program that a session runs."""

    isolation: Isolation
    command: tuple[str, ...]
    exit_code: int | None = None
    """How the command ended; None while it runs, and if nobody saw it end."""
    client: str | None = None
    """The agent's client, if it is a known one."""
    turns: int = 0
    """How many prompts the client reported."""

    @property
    def works_in_place(self) -> bool:
        return self.isolation is Isolation.IN_PLACE


def session_strategy(isolation: Isolation, default: SandboxStrategy) -> SandboxStrategy:
    """Returns how the sandbox of a session is made; `default` is that of the project's type."""
    match isolation:
        case Isolation.IN_PLACE:
            return SandboxStrategy.IN_PLACE
        case Isolation.AUTO | Isolation.PRIVATE:
            return SandboxStrategy.PRIVATE_VIEW
        case Isolation.COPY:
            return default
