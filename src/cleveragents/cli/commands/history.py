"""`agents plan rollback`, `undo` and `redo`: going back, and taking that back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cleveragents.cli import frame
from cleveragents.cli.commands.plan import end_interrupted, open_plan, plan_argument
from cleveragents.cli.report import Report
from cleveragents.cli.session import Session
from cleveragents.domain.errors import UsageError

if TYPE_CHECKING:
    from cleveragents.application.services._intents import Intent
    from cleveragents.application.services._operations import Recovered
    from cleveragents.application.services.checkpoint_service import CheckpointService
    from cleveragents.domain.operation import OperationKind

yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Only say what would be done.")

NOTHING_CHANGED = "Nothing was changed"


@frame.command(
    "rollback",
    help="Take a plan and its sandbox back to a checkpoint",
    epilog=(
        "Without a checkpoint it lists them and changes nothing. The present state is saved\n"
        "as a checkpoint first: `agents plan undo` takes a rollback back.\n\n"
        "Examples:\n"
        "  agents plan rollback @latest\n"
        "  agents plan rollback @latest @-2 --dry-run"
    ),
)
@plan_argument
@click.argument("checkpoint_ref", metavar="[CHECKPOINT]", required=False)
@yes_option
@dry_run_option
@frame.pass_session
def rollback(
    session: Session, plan_ref: str, checkpoint_ref: str | None, yes: bool, dry_run: bool
) -> Report:
    from cleveragents.cli.views.checkpoints import checkpoint_list_report

    with open_plan(session, plan_ref) as (container, found):
        service = container.checkpoint_service()
        if checkpoint_ref is None:
            if yes:
                raise UsageError(
                    "`--yes` needs the checkpoint to roll back to",
                    hint=f"Run `agents plan rollback {found.id}` to list them",
                )
            return checkpoint_list_report(service.list_checkpoints(found.id), found.id)
        intent = service.whole(service.find_checkpoint(found.id, checkpoint_ref))
        if not dry_run:
            end_interrupted(session, container, found.id)
        return _carried_out(session, service, found.id, intent, yes=yes, dry_run=dry_run)


@frame.command(
    "undo",
    help="Take back the last rollback or correction of a plan",
    epilog="The present state is saved as a checkpoint first: `agents plan redo` takes an undo "
    "back.\nUndo again to take back the one before.\n\nExample:\n  agents plan undo @latest",
)
@plan_argument
@yes_option
@dry_run_option
@frame.pass_session
def undo(session: Session, plan_ref: str, yes: bool, dry_run: bool) -> Report:
    from cleveragents.domain.operation import OperationKind

    return _taken_back(session, plan_ref, OperationKind.UNDO, yes=yes, dry_run=dry_run)


@frame.command(
    "redo",
    help="Take back the last undo of a plan",
    epilog="Example:\n  agents plan redo @latest",
)
@plan_argument
@yes_option
@dry_run_option
@frame.pass_session
def redo(session: Session, plan_ref: str, yes: bool, dry_run: bool) -> Report:
    from cleveragents.domain.operation import OperationKind

    return _taken_back(session, plan_ref, OperationKind.REDO, yes=yes, dry_run=dry_run)


def _taken_back(
    session: Session, plan_ref: str, kind: OperationKind, *, yes: bool, dry_run: bool
) -> Report:
    from cleveragents.cli.views.rollbacks import preview_report, preview_text, result_report

    with open_plan(session, plan_ref) as (container, found):
        service = container.history_service()
        ended = None if dry_run else end_interrupted(session, container, found.id)
        if ended is not None:
            return only_ended(ended, kind, found.id)
        preview = service.preview(found.id, kind)
        if dry_run:
            return preview_report(preview)
        if not yes:
            session.say(preview_text(preview))
            if not session.confirm(f"{kind.value.capitalize()}?"):
                return refused()
        return result_report(service.take_back(found.id, kind))


def _carried_out(
    session: Session,
    service: CheckpointService,
    plan_id: str,
    intent: Intent,
    *,
    yes: bool,
    dry_run: bool,
) -> Report:
    from cleveragents.cli.views.rollbacks import preview_report, preview_text, result_report

    preview = service.preview(plan_id, intent)
    if dry_run:
        return preview_report(preview)
    if not yes:
        session.say(preview_text(preview))
        if not session.confirm("Roll back?"):
            return refused()
    return result_report(service.carry_out(plan_id, intent))


def only_ended(ended: Recovered, kind: OperationKind, plan_id: str) -> Report:
    """The report of a command that found an interrupted operation and ended that, no more.

    To go on as if nothing had been would take back more than the user has seen.
    """
    done = ended.completed and ended.kind is kind
    data = {
        "plan_id": plan_id,
        "recovered": {"kind": ended.kind.value, "completed": ended.completed},
    }
    message = (
        f"{kind.value.capitalize()} complete"
        if done
        else f"Look at `agents plan log {plan_id}`, and ask again if you still want it"
    )
    return Report(data, (), (message,), status="warn", exit_code=0 if done else 3)


def refused() -> Report:
    """The report of a question that was answered with no."""
    return Report({}, (), (NOTHING_CHANGED,), status="error", exit_code=1)
