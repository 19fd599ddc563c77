"""What rollbacks, undos and corrections have in common when they are told."""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.domain.effects import Effect
from cleveragents.domain.operation import RollbackPreview
from cleveragents.domain.sandbox import ChangeAction, FileChange, Uncaptured
from cleveragents.reports.report import Section, Table
from cleveragents.reports.words import counted

VERIFIED = ("Verified", "yes: the sandbox was read back and is what it was")
WOULD_CHANGE = "What Would Change"
VERBS = {ChangeAction.RESTORED: "restore", ChangeAction.REMOVED: "remove"}
_SHOWN = 20


def changes_done(title: str, changes: Sequence[FileChange]) -> Table:
    rows = tuple((change.file, change.action.value) for change in changes)
    return Table(title, ("File", "Action"), rows, empty="The sandbox already was in this state.")


def changes_to_do(changes: Sequence[FileChange]) -> Table:
    rows = tuple((change.file, VERBS[change.action]) for change in changes)
    return Table(
        WOULD_CHANGE, ("File", "Action"), rows, empty="The sandbox already is in this state."
    )


def left_alone(items: Sequence[Uncaptured]) -> tuple[Section, ...]:
    """Returns the table of what no checkpoint holds, if there is anything."""
    rows = tuple((item.path, item.reason) for item in items)
    return (Table("Left Alone", ("Path", "Reason"), rows),) if rows else ()


def not_undone(effects: Sequence[Effect]) -> tuple[str, ...]:
    """Returns the warning about what stays done although the sandbox goes back, if need be."""
    names = ", ".join(str(effect) for effect in effects)
    return (f"No rollback can undo what these did: {names}",) if names else ()


def change_lines(changes: Sequence[FileChange]) -> list[str]:
    """Names the first of the paths that would change, and says how many more there are."""
    lines = [f"  {VERBS[change.action]:<8} {change.file}" for change in changes[:_SHOWN]]
    more = len(changes) - _SHOWN
    return [*lines, f"  … and {more} more"] if more > 0 else lines


def remarks(preview: RollbackPreview) -> list[str]:
    """What else the user should know before saying yes."""
    lines: list[str] = []
    if preview.left_alone:
        count = len(preview.left_alone)
        stays = "stays as it is" if count == 1 else "stay as they are"
        lines.append(f"{counted(count, 'path')} that no checkpoint holds {stays}.")
    lines += not_undone(preview.effects_not_undone)
    return [*lines, "The present state is saved as a checkpoint first."]


def changes_data(changes: Sequence[FileChange]) -> list[dict[str, str]]:
    return [{"file": change.file, "action": change.action.value} for change in changes]


def effects_data(effects: Sequence[Effect]) -> list[dict[str, object]]:
    return [effect.model_dump(mode="json") for effect in effects]
