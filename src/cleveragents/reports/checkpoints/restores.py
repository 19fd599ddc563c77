"""What the reports of rollbacks, undos, redos and corrections share."""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.domain.checkpoints.operation import RollbackPreview
from cleveragents.domain.sandboxes.sandbox import ChangeAction, FileChange, Uncaptured
from cleveragents.domain.tools.tool import Effect
from cleveragents.domain.wording import counted, first_lines
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


def not_undone(effects: Sequence[Effect]) -> tuple[str, ...]:
    """Returns a warning about effects that a rollback cannot undo, if there are any."""
    names = ", ".join(str(effect) for effect in effects)
    return (f"A rollback cannot undo the effects of {names}",) if names else ()


def change_lines(changes: Sequence[FileChange]) -> list[str]:
    """Lists the first paths that would change, and how many more there are."""
    return first_lines([f"{VERBS[change.action]:<8} {change.file}" for change in changes])


def remarks(preview: RollbackPreview) -> list[str]:
    """Returns what else the user should know before confirming."""
    lines: list[str] = []
    if preview.left_alone:
        count = len(preview.left_alone)
        verb = "is" if count == 1 else "are"
        lines.append(f"{counted(count, 'uncaptured path')} {verb} left alone.")
    lines += not_undone(preview.effects_not_undone)
    return [*lines, "The current state is saved as a checkpoint first."]


def changes_data(changes: Sequence[FileChange]) -> list[dict[str, object]]:
    return _CHANGE.list(changes)


def effects_data(effects: Sequence[Effect]) -> list[dict[str, object]]:
    return [effect.model_dump(mode="json") for effect in effects]
