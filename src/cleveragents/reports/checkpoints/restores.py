"""What the reports of rollbacks, undos, redos and corrections share."""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.domain.checkpoints.operation import RollbackPreview, RollbackResult
from cleveragents.domain.sandboxes.sandbox import ChangeAction, FileChange, Uncaptured
from cleveragents.domain.sandboxes.uncaptured import reason_from
from cleveragents.domain.tools.tool import Effect
from cleveragents.domain.wording import counted, first_lines, listed
from cleveragents.reports.checkpoints.checkpoint import UNCAPTURED
from cleveragents.reports.described import Description, Field
from cleveragents.reports.report import Section, Table

VERIFIED = ("Verified", "yes: the sandbox was read back, and nothing differs")
WOULD_CHANGE = "What Would Change"
VERBS = {ChangeAction.RESTORED: "restore", ChangeAction.REMOVED: "remove"}

_CHANGE = Description[FileChange](
    Field("file", "File", lambda it: it.file),
    Field("action", "Action", lambda it: it.action),
)
_TO_DO = Field[FileChange](None, "Action", lambda it: VERBS[it.action])


def changes_done(title: str, changes: Sequence[FileChange]) -> Table:
    empty = "The sandbox was already in this state."
    return _CHANGE.table(title, changes, ("File", "Action"), empty=empty, limited=True)


def changes_to_do(changes: Sequence[FileChange]) -> Table:
    empty = "The sandbox is already in this state."
    return _CHANGE.table(WOULD_CHANGE, changes, ("File", _TO_DO), empty=empty, limited=True)


def left_alone(items: Sequence[Uncaptured]) -> tuple[Section, ...]:
    """Returns the table of paths that no checkpoint contains, if there are any."""
    return (
        (UNCAPTURED.table("Left Alone", items, ("Path", "Reason"), limited=True),) if items else ()
    )


def replaced(items: Sequence[Uncaptured]) -> tuple[Section, ...]:
    """Returns the table of special files that are in the way, if there are any."""
    title = "Special Files Replaced"
    return (UNCAPTURED.table(title, items, ("Path", "Reason"), limited=True),) if items else ()


def not_undone(rollback: RollbackPreview | RollbackResult) -> tuple[str, ...]:
    """Returns warnings about what a rollback, or its undo, cannot bring back."""
    names = ", ".join(str(effect) for effect in rollback.effects_not_undone)
    lost = [f"`{item.path}` ({item.reason})" for item in rollback.replaced if not _is_fifo(item)]
    return (
        *((f"A rollback cannot undo the effects of {names}",) if names else ()),
        *((f"An undo cannot bring back {listed(lost)}",) if lost else ()),
    )


def commits_stay(rollback: RollbackPreview | RollbackResult) -> str:
    """Returns which commits a rollback of files leaves in the project."""
    count = counted(len(rollback.commits_kept), "commit")
    return (
        f"`HEAD`, branches and index stay as they are, with {count} made since: "
        f"{listed(list(rollback.commits_kept))}"
    )


def _is_fifo(item: Uncaptured) -> bool:
    return reason_from(item.reason).is_fifo


def change_lines(changes: Sequence[FileChange]) -> list[str]:
    """Lists the first paths that would change, and how many more there are."""
    return first_lines([f"{VERBS[change.action]:<8} {change.file}" for change in changes])


def remarks(preview: RollbackPreview) -> list[str]:
    """Returns what else the user should know before confirming."""
    lines: list[str] = []
    if preview.in_place is not None:
        lines.append(f"This changes your own files in {preview.in_place}.")
    if preview.commits_kept:
        lines.append(commits_stay(preview))
    if preview.left_alone:
        count = len(preview.left_alone)
        verb = "is" if count == 1 else "are"
        lines.append(f"{counted(count, 'uncaptured path')} {verb} left alone.")
    fifos = [f"`{item.path}`" for item in preview.replaced if _is_fifo(item)]
    if fifos:
        lines.append(f"It replaces the FIFO {listed(fifos)}; an undo makes it again.")
    lines += not_undone(preview)
    return [*lines, "The current state is saved as a checkpoint first."]


def changes_data(changes: Sequence[FileChange]) -> list[dict[str, object]]:
    return _CHANGE.list(changes)


def effects_data(effects: Sequence[Effect]) -> list[dict[str, object]]:
    return [effect.model_dump(mode="json") for effect in effects]
