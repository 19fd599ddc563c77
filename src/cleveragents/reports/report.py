"""The outcome of a command: data for programs, and sections for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

from cleveragents.domain.errors import CleverAgentsError

Status: TypeAlias = Literal["ok", "warn", "error"]


@dataclass(frozen=True, slots=True)
class Fields:
    """Named values of one thing."""

    title: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Several things of one kind, one row each."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    empty: str = "Nothing to show."
    """Shown instead of the table if there are no rows; `plain` prints nothing."""


@dataclass(frozen=True, slots=True)
class Text:
    """Preformatted text, such as a diff."""

    title: str
    body: str


Section: TypeAlias = Fields | Table | Text


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of one command."""

    data: Mapping[str, object]
    """The `data` of the JSON and YAML document: a stable contract."""
    sections: tuple[Section, ...]
    """The same facts for people, in reading order."""
    messages: tuple[str, ...] = ()
    """Closing sentences, such as "Rollback complete"."""
    status: Status = "ok"
    exit_code: int = 0
    warnings: tuple[str, ...] = ()
    """Sentences that the user must not miss; any of them turns `ok` into `warn`."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, for people and programs."""

    code: str
    message: str
    exit_code: int
    hint: str | None
    details: Mapping[str, object]
    data: object
    """What there is to report despite the failure, such as the plan that failed."""

    @classmethod
    def of(cls, error: CleverAgentsError, data: object = None, **details: object) -> Self:
        """Returns an error as a failure; `details` are added to those of the error."""
        return cls(
            error.code,
            error.message,
            error.exit_code,
            error.hint,
            {**error.details, **details},
            data,
        )

    @property
    def error(self) -> Mapping[str, object]:
        """The `error` of a JSON or YAML document: a stable contract."""
        return {
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "details": self.details,
        }
