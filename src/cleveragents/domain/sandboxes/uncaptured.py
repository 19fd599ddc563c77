"""Why a snapshot or a sandbox does not hold a path.

A snapshot stores the text of a reason, and the snapshot's id is a hash over that text. So a text
that a release has written must stay as it is, or equal states would get different ids. Code
decides by `kind`. Only this module maps texts to kinds.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class ReasonKind(StrEnum):
    """What kept a path out of a snapshot."""

    SPECIAL_FILE = "special_file"
    """A FIFO, socket or device: it holds no bytes, so a restore may replace it."""
    CHANGING = "changing"
    """It changed each time it was read."""
    OVERDUE = "overdue"
    """The deadline passed first: the snapshot is partial."""
    TOO_LARGE = "too_large"
    PLAN_LIMIT = "plan_limit"
    """The snapshots of the plan take as much room as the user allows."""
    IGNORED = "ignored"
    GIT_STATE = "git_state"
    """Something of the sandbox's own git that a snapshot does not hold."""
    UNREADABLE = "unreadable"
    """The system refused, and the text is its own; also any text of an unknown kind."""


@dataclass(frozen=True)
class Reason:
    """Why a path was not captured; two reasons with the same text are equal."""

    text: str
    """What is stored and shown."""
    kind: ReasonKind = field(compare=False)

    @property
    def is_special_file(self) -> bool:
        return self.kind is ReasonKind.SPECIAL_FILE

    @property
    def is_fifo(self) -> bool:
        """A FIFO is its name and its mode, so a restore can make it again."""
        return self.text == _FIFO

    @property
    def is_git_state(self) -> bool:
        return self.kind is ReasonKind.GIT_STATE


_SPECIAL_FILE = "special file"
_FIFO = f"{_SPECIAL_FILE}: fifo"
_LARGER = "larger than"
_STORED_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")

CHANGING = Reason("it kept changing while it was read", ReasonKind.CHANGING)
OVERDUE = Reason("it was not reached before the deadline", ReasonKind.OVERDUE)
PLAN_LIMIT = Reason("the snapshots of the plan have reached their limit", ReasonKind.PLAN_LIMIT)
IGNORED = Reason("ignored", ReasonKind.IGNORED)
OTHER_GIT = Reason("not the sandbox's own; a rollback moves it aside", ReasonKind.GIT_STATE)
DAMAGED_GIT = Reason("damaged or missing; a rollback repairs it", ReasonKind.GIT_STATE)
STAGED_BY_NAME = Reason("staged by name only", ReasonKind.GIT_STATE)
UNREADABLE_INDEX = Reason("it cannot be read; a rollback leaves it alone", ReasonKind.GIT_STATE)
GIT_MADE_LATER = Reason("a git directory; a rollback leaves it alone", ReasonKind.GIT_STATE)

GIT_OPERATIONS: Mapping[str, Reason] = {
    name: Reason(text, ReasonKind.GIT_STATE)
    for name, text in {
        "MERGE_HEAD": "a merge in progress",
        "CHERRY_PICK_HEAD": "a cherry-pick in progress",
        "REVERT_HEAD": "a revert in progress",
        "sequencer": "a cherry-pick or revert in progress",
        "rebase-merge": "a rebase in progress",
        "rebase-apply": "a rebase in progress",
        "BISECT_LOG": "a bisection in progress",
    }.items()
}
"""The file in git's directory that shows an unfinished operation, and what it is."""

_FIXED: Mapping[str, Reason] = {
    reason.text: reason
    for reason in (
        CHANGING,
        OVERDUE,
        PLAN_LIMIT,
        IGNORED,
        OTHER_GIT,
        DAMAGED_GIT,
        STAGED_BY_NAME,
        UNREADABLE_INDEX,
        GIT_MADE_LATER,
        *GIT_OPERATIONS.values(),
    )
}


def special_file(kind: str) -> Reason:
    return Reason(f"{_SPECIAL_FILE}: {kind}", ReasonKind.SPECIAL_FILE)


def special_kind(mode: int) -> str:
    """Returns what a special file is, from its mode as `lstat` gives it."""
    kinds = {stat.S_IFIFO: "fifo", stat.S_IFSOCK: "socket"}
    return kinds.get(stat.S_IFMT(mode), "device")


def too_large(limit: int) -> Reason:
    """Args: `limit` is the largest number of bytes that is captured."""
    # Not `wording.size`: the text is stored and hashed, so its units stay as they are.
    amount, unit = float(limit), 0
    while amount >= 1024 and unit < len(_STORED_UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    digits = 1 if unit else 0
    return Reason(f"{_LARGER} {amount:.{digits}f} {_STORED_UNITS[unit]}", ReasonKind.TOO_LARGE)


def unreadable(error: OSError) -> Reason:
    text = error.strerror or "it cannot be read"
    return Reason(text.lower(), ReasonKind.UNREADABLE)


def reason_from(text: str) -> Reason:
    """Returns the reason that was stored as `text`; an unknown text is kept as it is."""
    if text in _FIXED:
        return _FIXED[text]
    if text.startswith(_SPECIAL_FILE):
        return Reason(text, ReasonKind.SPECIAL_FILE)
    if text.startswith(_LARGER):
        return Reason(text, ReasonKind.TOO_LARGE)
    return Reason(text, ReasonKind.UNREADABLE)
