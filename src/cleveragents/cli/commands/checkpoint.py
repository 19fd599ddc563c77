"""`agents plan checkpoint`: list, create, verify, pin and delete a plan's checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cleveragents.cli import frame
from cleveragents.cli.commands.options import dry_run_option, refused, yes_option
from cleveragents.cli.commands.plan import end_interrupted, open_plan, plan_argument
from cleveragents.cli.session import Session
from cleveragents.domain.errors import UsageError
from cleveragents.reports.report import Report

if TYPE_CHECKING:
    from cleveragents.container import Container
    from cleveragents.domain.checkpoints.checkpoint import Checkpoint

LABEL_LENGTH = 200
_checkpoints_argument = click.argument(
    "checkpoint_refs", metavar="CHECKPOINT...", nargs=-1, required=True
)

checkpoint = frame.group(
    "checkpoint",
    help="Manage a plan's checkpoints",
    epilog="Example:\n  agents plan checkpoint list @latest",
    lazy={},
)


@checkpoint.command(
    "list",
    help="List a plan's checkpoints, oldest first",
    epilog="Example:\n  agents plan checkpoint list @latest --format json",
)
@plan_argument
@click.option(
    "--all", "everything", is_flag=True, help="Also list checkpoints that a rollback set aside."
)
@frame.pass_session
def list_(session: Session, plan_ref: str, everything: bool) -> Report:
    from cleveragents.reports.checkpoints.checkpoint import checkpoint_list_report

    with open_plan(session, plan_ref) as (container, found):
        listed = container.checkpoint_service().list_checkpoints(found.id, set_aside=everything)
    return checkpoint_list_report(listed, found.id)


@checkpoint.command(
    "show",
    help="Show one checkpoint",
    epilog="Example:\n  agents plan checkpoint show @latest @-1",
)
@plan_argument
@click.argument("checkpoint_ref", metavar="CHECKPOINT")
@frame.pass_session
def show(session: Session, plan_ref: str, checkpoint_ref: str) -> Report:
    from cleveragents.reports.checkpoints.checkpoint import checkpoint_report

    with open_plan(session, plan_ref) as (container, found):
        service = container.checkpoint_service()
        chosen = service.find_checkpoint(found.id, checkpoint_ref)
        groups = service.list_checkpoints(found.id).groups
    return checkpoint_report(chosen, groups[chosen.group_id])


@checkpoint.command(
    "verify",
    help="Read back checkpoints to check that they can be restored",
    epilog="Examples:\n  agents plan checkpoint verify @latest\n"
    "  agents plan checkpoint verify @latest @-1 --format json",
)
@plan_argument
@click.argument("checkpoint_ref", metavar="[CHECKPOINT]", required=False)
@frame.pass_session
def verify(session: Session, plan_ref: str, checkpoint_ref: str | None) -> Report:
    from cleveragents.reports.installation.maintenance import verify_report

    with open_plan(session, plan_ref) as (container, found):
        chosen = None
        if checkpoint_ref is not None:
            chosen = container.checkpoint_service().find_checkpoint(found.id, checkpoint_ref)
        return verify_report(container.maintenance_service().verify(found.id, chosen))


@checkpoint.command(
    "create",
    help="Create a checkpoint of the sandbox as it is now",
    epilog="Example:\n  agents plan checkpoint create @latest --label 'before my own edits'",
)
@plan_argument
@click.option("--label", default="manual checkpoint", help="Name of the checkpoint.")
@frame.pass_session
def create(session: Session, plan_ref: str, label: str) -> Report:
    from cleveragents.reports.checkpoints.checkpoint import checkpoint_report

    if not label.strip() or len(label) > LABEL_LENGTH:
        raise UsageError(f"A label must have between 1 and {LABEL_LENGTH} characters")
    with open_plan(session, plan_ref) as (container, found):
        service = container.checkpoint_service()
        end_interrupted(session, container, found.id)
        before = service.list_checkpoints(found.id).retention
        made = service.create_manual_checkpoint(found.id, label)
        listed = service.list_checkpoints(found.id)
    told = listed.retention.messages if listed.retention.dropped > before.dropped else ()
    return checkpoint_report(made, listed.groups[made.group_id], ("Checkpoint created", *told))


@checkpoint.command(
    "pin",
    help="Keep checkpoints regardless of the limit per plan",
    epilog="If the plan has several resources, the checkpoints taken of them at the same time are\n"
    "pinned together.\n\n"
    "Example:\n  agents plan checkpoint pin @latest @first @-2",
)
@plan_argument
@_checkpoints_argument
@frame.pass_session
def pin(session: Session, plan_ref: str, checkpoint_refs: tuple[str, ...]) -> Report:
    from cleveragents.reports.checkpoints.checkpoint import pinning_report

    with open_plan(session, plan_ref) as (container, found):
        chosen = _found(container, found.id, checkpoint_refs)
        pinned = container.retention_service().pin(found.id, chosen)
        return pinning_report(pinned, pinned=True)


@checkpoint.command(
    "unpin",
    help="Unpin checkpoints, so that the limit applies to them again",
    epilog="Nothing is deleted now: the next new checkpoint prunes those above the limit.\n\n"
    "Example:\n  agents plan checkpoint unpin @latest @first",
)
@plan_argument
@_checkpoints_argument
@frame.pass_session
def unpin(session: Session, plan_ref: str, checkpoint_refs: tuple[str, ...]) -> Report:
    from cleveragents.reports.checkpoints.checkpoint import pinning_report

    with open_plan(session, plan_ref) as (container, found):
        chosen = _found(container, found.id, checkpoint_refs)
        unpinned = container.retention_service().unpin(found.id, chosen)
        return pinning_report(unpinned, pinned=False)


@checkpoint.command(
    "delete",
    help="Delete checkpoints permanently",
    epilog="If the plan has several resources, the checkpoints taken of them at the same time are\n"
    "deleted together. Either all named checkpoints are deleted or none. Run `agents gc` to\n"
    "reclaim the space.\n\n"
    "Examples:\n  agents plan checkpoint delete @latest @-3\n"
    "  agents plan checkpoint delete @latest @-3 @-4 --dry-run",
)
@plan_argument
@_checkpoints_argument
@yes_option
@dry_run_option
@frame.pass_session
def delete(
    session: Session, plan_ref: str, checkpoint_refs: tuple[str, ...], yes: bool, dry_run: bool
) -> Report:
    from cleveragents.reports.checkpoints.checkpoint import (
        deletion_preview_report,
        deletion_report,
        deletion_text,
    )

    with open_plan(session, plan_ref) as (container, found):
        service = container.retention_service()
        chosen = _found(container, found.id, checkpoint_refs)
        if dry_run:
            return deletion_preview_report(service.preview_deletion(found.id, chosen))
        if not yes:
            session.say(deletion_text(service.preview_deletion(found.id, chosen)))
            if not session.confirm("Delete?"):
                return refused()
        return deletion_report(service.delete_checkpoints(found.id, chosen))


def _found(container: Container, plan_id: str, refs: tuple[str, ...]) -> list[Checkpoint]:
    service = container.checkpoint_service()
    return [service.find_checkpoint(plan_id, ref) for ref in refs]
