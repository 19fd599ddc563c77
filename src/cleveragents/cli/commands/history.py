"""`agents plan rollback`, `undo` and `redo`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from cleveragents.cli import frame
from cleveragents.cli.commands.options import (
    all_option,
    dry_run_option,
    only_ended,
    refused,
    yes_option,
)
from cleveragents.cli.commands.plan import end_interrupted, open_plan, plan_argument
from cleveragents.cli.session import Session
from cleveragents.cli.terminal import unescaped
from cleveragents.domain.errors import UsageError
from cleveragents.reports.report import Report

if TYPE_CHECKING:
    from cleveragents.application.services.checkpoint_service import CheckpointService
    from cleveragents.application.services.rollback.intents import Intent
    from cleveragents.application.services.rollback.procedure import RollbackProcedure
    from cleveragents.container import Container
    from cleveragents.domain.checkpoints.operation import OperationKind
    from cleveragents.domain.sandboxes.sandbox import FileChange


@frame.command(
    "rollback",
    help="Roll a plan and its sandbox back to a checkpoint",
    epilog=(
        "Without a checkpoint, lists the checkpoints and changes nothing. The current state is\n"
        "saved as a checkpoint first, so that `agents plan undo` can undo the rollback.\n\n"
        "With --path or --only-step, restores only part of the sandbox, and the plan keeps its\n"
        "position. Give paths as `agents plan diff` shows them.\n\n"
        "Examples:\n"
        "  agents plan rollback @latest\n"
        "  agents plan rollback @latest @-2 --dry-run\n"
        "  agents plan rollback @latest @first --path docs --path src/app.py\n"
        "  agents plan rollback @latest --only-step 3"
    ),
)
@plan_argument
@click.argument("checkpoint_ref", metavar="[CHECKPOINT]", required=False)
@click.option(
    "--path",
    "paths",
    multiple=True,
    metavar="PATH",
    help="Restore only this file or directory; can be repeated.",
)
@click.option(
    "--only-step",
    type=click.IntRange(min=1),
    metavar="N",
    help="Undo only step N, if no later step changed the same files.",
)
@yes_option
@dry_run_option
@all_option
@frame.pass_session
def rollback(
    session: Session,
    plan_ref: str,
    checkpoint_ref: str | None,
    paths: tuple[str, ...],
    only_step: int | None,
    yes: bool,
    dry_run: bool,
) -> Report:
    from cleveragents.domain.checkpoints.operation import OperationKind
    from cleveragents.reports.checkpoints.checkpoint import checkpoint_list_report

    with open_plan(session, plan_ref) as (container, found):
        service, procedure = container.checkpoint_service(), container.rollback_procedure()
        _refuse_contradictions(found.id, checkpoint_ref, paths, only_step, yes=yes)
        if checkpoint_ref is None and only_step is None:
            why = f": {found.cancel_reason}" if found.cancel_reason else ""
            return checkpoint_list_report(
                service.list_checkpoints(found.id),
                found.id,
                if_empty=f"There is no checkpoint to roll back to{why}",
            )
        ended = None if dry_run else end_interrupted(session, container, found.id)
        if not dry_run and not container.is_remote:
            container.plan_executor().rebuild_discarded(found.id)
        paths = _as_stored(service, procedure, found.id, checkpoint_ref, paths)
        intent = _intent(service, found.id, checkpoint_ref, paths, only_step)
        if ended is not None and (paths or only_step is not None):
            return only_ended(ended, OperationKind.ROLLBACK, found.id)
        part = _part(checkpoint_ref, paths, only_step)
        return _roll_back(
            session, procedure, found.id, intent, paths, part, yes=yes, dry_run=dry_run
        )


@frame.command(
    "undo",
    help="Undo the last thing that a plan did",
    epilog="That is its last step, what a session changed last, a rollback, a correction or an\n"
    "apply. Run `undo` again to go further back, and `agents plan redo` to reverse the undo.\n\n"
    "The undo of an apply changes the project, and only while its files, branch and index are\n"
    "as the apply left them. Afterward the plan is complete and can be applied again.\n\n"
    "Example:\n  agents plan undo @latest",
)
@plan_argument
@yes_option
@dry_run_option
@all_option
@frame.pass_session
def undo(session: Session, plan_ref: str, yes: bool, dry_run: bool) -> Report:
    from cleveragents.domain.checkpoints.operation import OperationKind

    return _undo_or_redo(session, plan_ref, OperationKind.UNDO, yes=yes, dry_run=dry_run)


@frame.command(
    "redo",
    help="Redo what the last undo of a plan undid",
    epilog="An undone apply is applied again with the same result, while the project is as the\n"
    "undo left it.\n\n"
    "Example:\n  agents plan redo @latest",
)
@plan_argument
@yes_option
@dry_run_option
@all_option
@frame.pass_session
def redo(session: Session, plan_ref: str, yes: bool, dry_run: bool) -> Report:
    from cleveragents.domain.checkpoints.operation import OperationKind

    return _undo_or_redo(session, plan_ref, OperationKind.REDO, yes=yes, dry_run=dry_run)


def _undo_or_redo(
    session: Session, plan_ref: str, kind: OperationKind, *, yes: bool, dry_run: bool
) -> Report:
    from cleveragents.application.services.rollback.intents import UndoRedo
    from cleveragents.reports.checkpoints.rollbacks import (
        preview_report,
        preview_text,
        result_report,
    )

    with open_plan(session, plan_ref) as (container, found):
        procedure = container.rollback_procedure()
        ended = None if dry_run else end_interrupted(session, container, found.id)
        if ended is not None:
            return only_ended(ended, kind, found.id)
        if container.apply_reversal().is_next(found.id, kind):
            return _reverse_apply(session, container, found.id, kind, yes=yes, dry_run=dry_run)
        if not dry_run and not container.is_remote:
            container.plan_executor().rebuild_discarded(found.id)
        preview = procedure.preview(found.id, UndoRedo(kind))
        if dry_run:
            return preview_report(preview)
        if not yes:
            session.say(preview_text(preview))
            if not session.confirm(f"{kind.value.capitalize()}?"):
                return refused()
        return result_report(procedure.run(found.id, UndoRedo(kind, preview.key)))


def _reverse_apply(
    session: Session,
    container: Container,
    plan_id: str,
    kind: OperationKind,
    *,
    yes: bool,
    dry_run: bool,
) -> Report:
    from cleveragents.reports.plans.reversal import (
        reversal_preview,
        reversal_report,
        reversal_text,
    )

    service = container.apply_reversal()
    preview = service.preview(plan_id, kind)
    if dry_run:
        return reversal_preview(preview)
    if not yes:
        session.say(reversal_text(preview))
        if not session.confirm(f"{kind.value.capitalize()}?"):
            return refused()
    return reversal_report(service.run(plan_id, kind, preview.takes_back))


def _roll_back(
    session: Session,
    procedure: RollbackProcedure,
    plan_id: str,
    intent: Intent,
    paths: tuple[str, ...],
    part: str,
    *,
    yes: bool,
    dry_run: bool,
) -> Report:
    from cleveragents.reports.checkpoints.rollbacks import (
        preview_report,
        preview_text,
        result_report,
    )

    preview = procedure.preview(plan_id, intent)
    if paths and not preview.changes:
        raise UsageError(
            f"There is nothing to roll back: {'; '.join(_unchanged(paths, ()))}",
            hint=f"Run `agents plan diff {plan_id}` to see the paths that changed",
        )
    if dry_run:
        session.warnings += _unchanged(paths, preview.changes)
        return preview_report(preview, part)
    if not yes:
        session.say(preview_text(preview))
        if not session.confirm("Roll back?"):
            return refused()
    result = procedure.run(plan_id, intent)
    session.warnings += _unchanged(paths, result.changes)
    return result_report(result)


def _refuse_contradictions(
    plan_id: str,
    checkpoint_ref: str | None,
    paths: tuple[str, ...],
    only_step: int | None,
    *,
    yes: bool,
) -> None:
    if only_step is not None and (checkpoint_ref is not None or paths):
        raise UsageError(
            "`--only-step` cannot be combined with a checkpoint or `--path`",
            hint="Leave out the checkpoint and `--path`, or `--only-step`",
        )
    if checkpoint_ref is None and only_step is None and (yes or paths):
        raise UsageError(
            f"`{'--yes' if yes else '--path'}` needs the checkpoint to roll back to",
            hint=f"Run `agents plan rollback {plan_id}` to list them",
        )


def _as_stored(
    service: CheckpointService,
    procedure: RollbackProcedure,
    plan_id: str,
    checkpoint_ref: str | None,
    paths: tuple[str, ...],
) -> tuple[str, ...]:
    """Returns the paths with escaped characters as they are, where a path would change then.

    A backslash may also be part of a name, so only what is there decides.
    """
    if not any("\\" in path for path in paths):
        return paths
    from cleveragents.application.services.rollback.intents import RollbackToCheckpoint

    checkpoint = service.find_checkpoint(plan_id, checkpoint_ref or "")
    changes = procedure.preview(plan_id, RollbackToCheckpoint(checkpoint)).changes
    meant = [unescaped(path) for path in paths]
    idle = {path for path in meant if _unchanged((path,), changes)}
    return tuple(
        path if stored in idle else stored for path, stored in zip(paths, meant, strict=True)
    )


def _unchanged(paths: tuple[str, ...], changes: Sequence[FileChange]) -> list[str]:
    """Warns about given paths that did not change, because they may be misspelled."""
    files = [change.file.rstrip("/") for change in changes]
    idle = [
        path
        for path in paths
        if (name := "/".join(part for part in path.split("/") if part not in ("", ".")))
        and not any(file == name or file.startswith(f"{name}/") for file in files)
    ]
    return [f"`{path}` is unchanged or does not exist" for path in idle]


def _part(checkpoint_ref: str | None, paths: tuple[str, ...], only_step: int | None) -> str:
    """Returns the arguments of a partial rollback, or nothing for a full one."""
    if only_step is not None:
        return f"--only-step {only_step}"
    named = [word for path in paths for word in ("--path", path)]
    return shlex.join([checkpoint_ref or "", *named]) if named else ""


def _intent(
    service: CheckpointService,
    plan_id: str,
    checkpoint_ref: str | None,
    paths: tuple[str, ...],
    only_step: int | None,
) -> Intent:
    from cleveragents.application.services.rollback.intents import RollbackToCheckpoint
    from cleveragents.application.services.rollback.partial import RollbackPaths, RollbackStep

    if only_step is not None:
        return RollbackStep(only_step - 1)
    checkpoint = service.find_checkpoint(plan_id, checkpoint_ref or "")
    return RollbackPaths(checkpoint, paths) if paths else RollbackToCheckpoint(checkpoint)
