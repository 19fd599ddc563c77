"""What a look at the whole installation found, and what was mended.

The functions judge facts that somebody else has gathered; they change nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Any

from cleveragents.domain.record import Record
from cleveragents.domain.wording import size

PRIVATE_MODE = 0o700
LITTLE_SPACE = 1 << 30
"""Free bytes below which a plan may soon have nowhere to write."""
FIX = "Run `agents doctor --fix`"


class CheckStatus(StrEnum):
    """How one check went, in the order of how much it matters."""

    OK = "ok"
    FIXED = "fixed"
    """Something was wrong, and is not any more."""
    WARNING = "warning"
    """Nothing is broken, and somebody should know."""
    PROBLEM = "problem"


class Check(Record):
    """What one check found."""

    name: str
    """Stable, for programs."""
    status: CheckStatus
    message: str
    hint: str | None = None
    """What mends it."""
    details: dict[str, Any] = {}
    skipped: bool = False
    """Whether something was left as it is because another process is using it."""


class PlanDisk(Record):
    """What one plan takes of a store's share of the disk."""

    plan_id: str
    sandbox_bytes: int
    checkpoints: int
    """Groups that the plan keeps."""


class ProjectDisk(Record):
    """What one project, directory or database takes on disk."""

    key: str
    """Names its store."""
    project: str | None
    """What the store was made for; None when no record tells."""
    store_bytes: int
    """Without what the store shares with the project."""
    plans: tuple[PlanDisk, ...]

    @property
    def bytes(self) -> int:
        return self.store_bytes + sum(plan.sandbox_bytes for plan in self.plans)


class DiskUse(Record):
    """What the home directory takes on disk, the largest project first."""

    total_bytes: int
    projects: tuple[ProjectDisk, ...]


class HealthReport(Record):
    """What `agents doctor` found."""

    fix: bool
    """Whether it was asked to mend what it can."""
    quick: bool
    """Whether reading the snapshots back was left out."""
    checks: tuple[Check, ...]
    versions: dict[str, str | None]
    paths: dict[str, str]
    disk: DiskUse

    def count(self, status: CheckStatus) -> int:
        return sum(check.status is status for check in self.checks)

    @property
    def skipped(self) -> bool:
        return any(check.skipped for check in self.checks)


class HomeFacts(Record):
    """The home directory as it is found."""

    path: str
    is_directory: bool
    mode: int
    """The permission bits."""
    usable: bool
    """Whether this user can list it, enter it and write to it."""
    free_bytes: int

    @property
    def is_private(self) -> bool:
        return self.mode == PRIVATE_MODE


class DatabaseFacts(Record):
    """The database as it is found."""

    kind: str
    """`SQLite` or `PostgreSQL`."""
    revision: str
    """Of the schema that is stored."""
    expected: str
    """Of the schema that this program writes."""
    faults: tuple[str, ...]
    """What its own check found wrong."""

    @property
    def is_older(self) -> bool:
        return self.revision != self.expected


class StoredBytes(Record):
    """What is on disk, by place; what is shared with others is not counted."""

    total: int
    stores: dict[str, int]
    """By the key of the store."""
    sandboxes: dict[str, dict[str, int]]
    """By plan and resource."""


def check(
    name: str,
    status: CheckStatus,
    message: str,
    hint: str | None = None,
    *,
    skipped: bool = False,
    **details: object,
) -> Check:
    return Check(
        name=name, status=status, message=message, hint=hint, skipped=skipped, details=details
    )


def worst(statuses: Iterable[CheckStatus]) -> CheckStatus:
    order = list(CheckStatus)
    return max(statuses, key=order.index, default=CheckStatus.OK)


def judge_home(facts: HomeFacts, *, mended: bool) -> Check:
    """Says whether the home directory is the user's own, and has room.

    Args:
        facts: As it is now.
        mended: Whether its mode has just been set right.
    """
    judged = partial(check, "home", mode=f"{facts.mode:04o}", free_bytes=facts.free_bytes)
    if not facts.is_directory:
        return judged(
            CheckStatus.PROBLEM,
            f"{facts.path} is not a directory",
            "Move it away, or set `CLEVERAGENTS_HOME` to a directory",
        )
    if not facts.is_private:
        return judged(
            CheckStatus.PROBLEM,
            f"{facts.path} has the mode {facts.mode:04o}; it holds copies of your projects "
            f"and should have {PRIVATE_MODE:04o}",
            FIX,
        )
    if not facts.usable:
        return judged(
            CheckStatus.PROBLEM,
            f"{facts.path} cannot be read and written by this user",
            "Make it belong to this user, or set `CLEVERAGENTS_HOME` to another directory",
        )
    if facts.free_bytes < LITTLE_SPACE:
        return judged(
            CheckStatus.WARNING,
            f"Only {size(facts.free_bytes)} are free where {facts.path} is",
            "Run `agents gc`, or make room",
        )
    if mended:
        return judged(CheckStatus.FIXED, f"{facts.path} has the mode {facts.mode:04o} now")
    return judged(CheckStatus.OK, f"{facts.path} is private and can be written")


def judge_database(facts: DatabaseFacts, place: str, *, upgraded_from: str | None) -> Check:
    """Says whether the records can be believed.

    Args:
        facts: As it is now.
        place: Where it is, without secrets.
        upgraded_from: The revision it had a moment ago.
    """
    judged = partial(
        check,
        "database",
        kind=facts.kind,
        place=place,
        revision=facts.revision,
        expected=facts.expected,
        faults=list(facts.faults),
    )
    if facts.faults:
        return judged(
            CheckStatus.PROBLEM,
            f"The database {place} is damaged: {facts.faults[0]}; "
            "what needs its records was not looked at",
            "Restore a copy of it, or move it away to start with an empty one",
        )
    if facts.is_older:
        return judged(
            CheckStatus.WARNING,
            f"The database {place} has the older schema {facts.revision}; "
            "what needs its records was not looked at",
            f"{FIX}, or any other command: it is copied first, then upgraded",
        )
    if upgraded_from is not None:
        return judged(
            CheckStatus.FIXED,
            f"The schema was upgraded from {upgraded_from} to {facts.revision}",
        )
    return judged(
        CheckStatus.OK, f"{facts.kind} with the schema {facts.revision}, and nothing wrong with it"
    )


def disk_use(
    stored: StoredBytes,
    projects: Mapping[str, str],
    plans: Mapping[str, Sequence[PlanDisk]],
) -> DiskUse:
    """Puts what is on disk in the order of what it is for.

    Args:
        stored: What is there.
        projects: What each store was made for, by its key.
        plans: The plans that have a sandbox of each store, by its key.
    """
    found = [
        ProjectDisk(
            key=key,
            project=projects.get(key),
            store_bytes=size,
            plans=tuple(sorted(plans.get(key, ()), key=lambda plan: -plan.sandbox_bytes)),
        )
        for key, size in stored.stores.items()
    ]
    found.sort(key=lambda project: (-project.bytes, project.key))
    return DiskUse(total_bytes=stored.total, projects=tuple(found))
