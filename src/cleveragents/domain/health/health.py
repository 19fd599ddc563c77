"""What a check of the whole installation found, and what it fixed.

The functions judge facts that their callers have gathered; they change nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Any

from cleveragents.domain.errors import CopiedHomeError
from cleveragents.domain.health.home_state import HomeState
from cleveragents.domain.health.layers import Layer
from cleveragents.domain.record import Record
from cleveragents.domain.wording import size

PRIVATE_MODE = 0o700
LITTLE_SPACE = 1 << 30
"""With fewer free bytes than this, a plan may soon fail to write."""
FIX = "Run `agents doctor --fix`"


class CheckStatus(StrEnum):
    """The result of one check, the least serious first."""

    OK = "ok"
    FIXED = "fixed"
    """Something was wrong and is now fixed."""
    WARNING = "warning"
    """Nothing is broken, but it needs attention."""
    PROBLEM = "problem"


class Check(Record):
    """What one check found."""

    name: str
    """Stable, for programs."""
    status: CheckStatus
    message: str
    hint: str | None = None
    """What fixes it."""
    details: dict[str, Any] = {}
    skipped: bool = False
    """Whether something was skipped because another process uses it."""


class PlanDisk(Record):
    """The disk space of one plan."""

    plan_id: str
    sandbox_bytes: int
    checkpoints: int
    """The number of checkpoint groups of the plan."""


class ProjectDisk(Record):
    """The disk space for one project, directory or database."""

    key: str
    """Names its mirror."""
    project: str | None
    """The path that the mirror was created for; None if no record names it."""
    store_bytes: int
    """Without what the mirror shares with the project."""
    plans: tuple[PlanDisk, ...]

    @property
    def bytes(self) -> int:
        return self.store_bytes + sum(plan.sandbox_bytes for plan in self.plans)


class DiskUse(Record):
    """The disk space of the home directory, the largest project first."""

    total_bytes: int
    projects: tuple[ProjectDisk, ...]
    layers: tuple[Layer, ...] = ()
    """The work in private views that nobody has applied or discarded."""


class HealthReport(Record):
    """What `agents doctor` found."""

    fix: bool
    """Whether it was asked to fix problems."""
    quick: bool
    """Whether snapshots were not read back."""
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
    """The state of the home directory."""

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
    """The state of the database."""

    kind: str
    """`SQLite` or `PostgreSQL`."""
    revision: str
    """The revision of the stored schema."""
    expected: str
    """The revision of the schema that this version writes."""
    faults: tuple[str, ...]
    """What the database's own check reports."""

    @property
    def is_older(self) -> bool:
        return self.revision != self.expected


class StoredBytes(Record):
    """Disk space by directory; space that is shared with others is not counted."""

    total: int
    stores: dict[str, int]
    """By the key of the mirror."""
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


def judge_home(facts: HomeFacts, *, fixed: bool) -> Check:
    """Checks that the home directory is private and has free space.

    Args:
        facts: Its state now.
        fixed: Whether its mode was just corrected.
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
            "Change its owner to the current user, or set `CLEVERAGENTS_HOME` to another directory",
        )
    if facts.free_bytes < LITTLE_SPACE:
        return judged(
            CheckStatus.WARNING,
            f"Only {size(facts.free_bytes)} are free where {facts.path} is",
            "Run `agents gc`, or free disk space",
        )
    if fixed:
        return judged(CheckStatus.FIXED, f"{facts.path} has the mode {facts.mode:04o} now")
    return judged(CheckStatus.OK, f"{facts.path} is private and can be written")


def judge_identity(before: HomeState, after: HomeState, path: str, original: str | None) -> Check:
    """Checks that the home directory is where its identity says.

    Args:
        before: What was found.
        after: What it is now: the first use of the records of a moved home repairs them.
        path: The home directory.
        original: Where it was when it got its identity.
    """
    judged = partial(check, "identity", state=after.value, original=original)
    if after is HomeState.COPIED:
        error = CopiedHomeError(path, original or "")
        return judged(CheckStatus.PROBLEM, error.message, error.hint)
    if before in (HomeState.MOVED, HomeState.COPIED) and after is HomeState.SETTLED:
        return judged(
            CheckStatus.FIXED,
            f"{path} was {before.value} from {original}; its plans now use the sandboxes here",
        )
    return judged(CheckStatus.OK, "The home directory is where its records say")


def judge_database(facts: DatabaseFacts, place: str, *, upgraded_from: str | None) -> Check:
    """Checks that the database is intact and has the current schema.

    Args:
        facts: Its state now.
        place: Its URL or path, without secrets.
        upgraded_from: The revision before this command upgraded it.
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
            "checks that need its records were skipped",
            "Restore a copy of it, or move it away to start with an empty one",
        )
    if facts.is_older:
        return judged(
            CheckStatus.WARNING,
            f"The database {place} has the older schema {facts.revision}; "
            "checks that need its records were skipped",
            f"{FIX}, or any other command: it is copied first, then upgraded",
        )
    if upgraded_from is not None:
        return judged(
            CheckStatus.FIXED,
            f"The schema was upgraded from {upgraded_from} to {facts.revision}",
        )
    return judged(
        CheckStatus.OK, f"{facts.kind} with the schema {facts.revision}, no problems found"
    )


def disk_use(
    stored: StoredBytes,
    projects: Mapping[str, str],
    plans: Mapping[str, Sequence[PlanDisk]],
    layers: tuple[Layer, ...] = (),
) -> DiskUse:
    """Groups disk space by project and plan.

    Args:
        stored: The measured disk space.
        projects: The path that each mirror was created for, by its key.
        plans: The plans with a sandbox in each mirror, by its key.
        layers: The layers of private views.
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
    return DiskUse(total_bytes=stored.total, projects=tuple(found), layers=layers)
