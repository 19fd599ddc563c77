"""What an operating system error, or a restore that did not succeed, means to the user."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from cleveragents.domain.errors import SnapshotError
from cleveragents.domain.sandboxes.sandbox import RestoreReport


@contextmanager
def os_errors_as(what: str) -> Generator[None]:
    """Raises SnapshotError for a full disk or a missing permission; `what` says what failed."""
    try:
        yield
    except OSError as error:
        raise SnapshotError(
            f"{what}: {error}", hint="Make room or give permission, then try again"
        ) from error


def refuse_differences(report: RestoreReport) -> None:
    """Raises SnapshotError unless everything is as it should be."""
    if report.differences:
        raise SnapshotError(
            "The sandbox differs from what was stored: " + "; ".join(report.differences),
            hint="End the processes that write to it, then try again",
            differences=list(report.differences),
        )
