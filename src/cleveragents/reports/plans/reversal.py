"""Undos and redos of applies: what one would do to the project, and what it did."""

from __future__ import annotations

from typing import TypeAlias

from cleveragents.domain.checkpoints.operation import OperationKind
from cleveragents.domain.checkpoints.reversal import ReversalPreview, ReversalResult
from cleveragents.domain.plans.apply import ApplyMode, Target
from cleveragents.domain.sandboxes.sandbox import ChangeAction, DiffFile
from cleveragents.domain.wording import counted
from cleveragents.reports.checkpoints.rollbacks import undo_data, undo_sentence
from cleveragents.reports.described import Description, Field
from cleveragents.reports.plans.diffs import FILE
from cleveragents.reports.report import UNCHANGED, Commands, Fields, Report, Table

Reversal: TypeAlias = ReversalPreview | ReversalResult

_DELETED = "deleted"
_FILE = Description[tuple[Target, DiffFile]](
    Field("file", "File", lambda it: it[1].path),
    Field("action", "Action", lambda it: _action(it[1])),
    Field("resource", "Resource", lambda it: it[0].resource),
)


def reversal_preview(preview: ReversalPreview) -> Report:
    """The dry run, with the data of the real report."""
    data = {
        **_data(preview),
        "post_rollback_state": None,
        "dry_run": True,
        "verified": None,
        "operation": None,
    }
    sections = (
        Fields(f"{preview.kind.value.capitalize()} Preview", _rows(preview)),
        _files(preview, "What Would Change in the Project"),
        Commands("Next", (("Do it", f"agents plan {preview.kind.value} {preview.plan_id}"),)),
    )
    return Report(data, sections, (UNCHANGED,), did_something=False)


def reversal_report(result: ReversalResult) -> Report:
    data = {
        **_data(result),
        "post_rollback_state": {
            "phase": result.phase,
            "state": result.state.value,
            "checkpoints_remaining": result.checkpoints_remaining,
        },
        "verified": True,
        "operation": {
            "operation_id": result.operation_id,
            "kind": result.kind.value,
            "takes_back": result.takes_back,
            "safety_checkpoint_id": result.checkpoint_id,
        },
    }
    name = result.kind.value.capitalize()
    state = (("Phase", result.phase.value), ("State", result.state.value))
    sections = (
        Fields(f"{name} Summary", _rows(result)),
        _files(result, "Changes Made in the Project"),
        Fields(f"Post-{name} State", state),
        Commands("Next", _next(result)),
    )
    return Report(data, sections, (f"{name} complete", undo_sentence(result)))


def reversal_text(preview: ReversalPreview) -> str:
    """Returns the text shown before the user confirms; deletions come first, all of them."""
    undoing = preview.kind is OperationKind.UNDO
    lines = [f"{'Undoing' if undoing else 'Redoing'} the {preview.what} changes the project:"]
    for target in preview.targets:
        lines.append(f"{target.path}: {_what(target, preview)}")
        files = sorted(target.files, key=lambda item: item.status != _DELETED)
        lines += [f"  {_action(item)} {item.path}" for item in files]
    if undoing:
        lines.append("The plan is then complete and not applied; its sandbox is there again.")
    return "\n".join(lines)


def _data(reversal: Reversal) -> dict[str, object]:
    files = [(target, item) for target in reversal.targets for item in target.files]
    done = isinstance(reversal, ReversalResult)
    return {
        "rollback_summary": {
            "plan": reversal.plan_id,
            "checkpoint": reversal.checkpoint_id if done else None,
            "label": reversal.checkpoint_label if done else None,
            "files_reverted": len(files),
        },
        "changes_reverted": _FILE.list(files),
        "apply": {
            "mode": reversal.mode,
            "targets": [
                {
                    "resource": target.resource,
                    "type": target.type,
                    "path": target.path,
                    "commit": target.commit,
                    "branch": target.branch,
                    "files": FILE.list(target.files),
                }
                for target in reversal.targets
            ],
        },
        **undo_data(reversal),
    }


def _rows(reversal: Reversal) -> tuple[tuple[str, str], ...]:
    return (
        ("Plan", reversal.plan_id),
        ("Reverses", reversal.what),
        *((target.resource, _what(target, reversal)) for target in reversal.targets),
    )


def _files(reversal: Reversal, title: str) -> Table:
    rows = [(target, item) for target in reversal.targets for item in target.files]
    columns = ("Resource", "File", "Action")
    return _FILE.table(title, rows, columns, empty="No differences.", limited=True)


def _what(target: Target, reversal: Reversal) -> str:
    """Says what becomes of the files and the branch of one resource."""
    if not target.document:
        return "nothing changes"
    files = counted(len(target.files), "file")
    undoing = reversal.kind is OperationKind.UNDO
    if reversal.mode is ApplyMode.BRANCH and target.branch is not None:
        return f"the branch {target.branch} is {'deleted' if undoing else 'created again'}"
    if target.commit is None:
        return f"{files} {'as before the apply' if undoing else 'as the apply left them'}"
    branch = target.branch or "the detached HEAD"
    return f"{files}, {branch} {'back to before' if undoing else 'at'} {target.commit[:12]}"


def _action(file: DiffFile) -> str:
    return (ChangeAction.REMOVED if file.status == _DELETED else ChangeAction.RESTORED).value


def _next(result: ReversalResult) -> tuple[tuple[str, str], ...]:
    plan = result.plan_id
    if result.kind is OperationKind.UNDO:
        return (
            ("Redo it", f"agents plan redo {plan}"),
            ("Apply it to the project", f"agents plan apply {plan}"),
        )
    return (("Undo it", f"agents plan undo {plan}"),)
