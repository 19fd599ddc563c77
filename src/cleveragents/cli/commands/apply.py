"""`agents plan apply`: apply a plan's result to the project."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from cleveragents.cli import frame
from cleveragents.cli.commands.options import (
    all_option,
    dry_run_option,
    progress_option,
    refused,
    yes_option,
)
from cleveragents.cli.commands.plan import end_interrupted, open_plan, plan_argument
from cleveragents.cli.frame import CommandFailed
from cleveragents.cli.session import Session
from cleveragents.domain.errors import (
    CleverAgentsError,
    ConflictError,
    InterruptedByUserError,
    UsageError,
)
from cleveragents.reports.report import Failure, Report

if TYPE_CHECKING:
    from cleveragents.application.services.plan_service import PlanStatus
    from cleveragents.container import Container
    from cleveragents.domain.plans.apply import ApplyRequest


@frame.command(
    "apply",
    help="Apply a plan's result to the project",
    epilog=(
        "Runs the plan's validations in the sandbox, then merges the result into the current\n"
        "project. A conflict, refusal or failure leaves the project unchanged.\n\n"
        "Examples:\n"
        "  agents plan apply @latest --dry-run\n"
        "  agents plan apply @latest --branch greeting"
    ),
)
@plan_argument
@yes_option
@dry_run_option
@all_option
@click.option("--no-commit", is_flag=True, help="Leave the changes in the working tree.")
@click.option(
    "--branch",
    metavar="NAME",
    help="Only create a branch with the result.",
)
@click.option(
    "--include-uncommitted",
    is_flag=True,
    help="Also merge into files that have uncommitted changes.",
)
@click.option(
    "--include-ignored",
    metavar="PATTERN",
    multiple=True,
    help="Also apply files that no checkpoint holds, such as ignored ones; `all` for every one.",
)
@progress_option
@frame.pass_session
def apply(
    session: Session,
    plan_ref: str,
    yes: bool,
    dry_run: bool,
    no_commit: bool,
    branch: str | None,
    include_uncommitted: bool,
    include_ignored: tuple[str, ...],
) -> Report:
    request = _request(
        no_commit=no_commit,
        branch=branch,
        include_uncommitted=include_uncommitted,
        include_ignored=include_ignored,
    )
    with open_plan(session, plan_ref) as (container, found):
        if container.is_remote:
            raise ConflictError(
                f"The session {found.id} still runs, so it cannot be applied yet",
                hint=f"Wait until its command has ended, or end it. `agents diff {found.id}` "
                "shows what has changed so far",
                plan_id=found.id,
            )
        if found.session is not None:
            request = request.as_if_worked_there()
        try:
            return apply_plan(session, container, found.id, request, yes=yes, dry_run=dry_run)
        except CleverAgentsError as error:
            options = _options(container, found.id)
            raise CommandFailed(Failure.of(error, recovery_options=options)) from error


def apply_plan(
    session: Session,
    container: Container,
    plan_id: str,
    request: ApplyRequest,
    *,
    yes: bool,
    dry_run: bool = False,
) -> Report:
    """Applies a plan; shows a preview and asks first, unless `yes`."""
    from cleveragents.domain.checkpoints.operation import OperationKind
    from cleveragents.domain.plans.plan import PlanState
    from cleveragents.reports.plans.apply import preview_report, preview_text, result_report

    service, plans = container.plan_apply_service(), container.plan_service()
    if dry_run:
        return preview_report(service.preview(plan_id, request), plans.status(plan_id))
    ended = end_interrupted(session, container, plan_id)
    if ended is not None and ended.kind is OperationKind.APPLY and ended.completed:
        return result_report(service.finished(plan_id), plans.status(plan_id))
    if not yes:
        session.say(preview_text(service.preview(plan_id, request)))
        if not session.confirm("Apply?"):
            return refused()
    try:
        done = service.apply(plan_id, request)
    except (KeyboardInterrupt, InterruptedByUserError):
        if plans.status(plan_id).plan.state is not PlanState.APPLIED:
            raise _interrupted(plans.status(plan_id)) from None
        done = service.finished(plan_id)  # The interrupt came too late to stop it.
    return result_report(done, plans.status(plan_id))


def _options(container: Container, plan_id: str) -> list[str]:
    hints = container.plan_service().options_after_failed_apply(plan_id)
    return [hint.cli_command for hint in hints]


def _interrupted(status: PlanStatus) -> InterruptedByUserError:
    """Returns an error that says whether the apply stopped before or during its changes."""
    plan_id = status.plan.id
    if status.interrupted is None:
        return InterruptedByUserError(
            f"Interrupted; nothing was applied: {plan_id}",
            hint=f"Run `agents plan apply {plan_id}` to try again",
        )
    return InterruptedByUserError(
        f"Interrupted while applying: {plan_id}",
        hint=f"Run `agents plan apply {plan_id}` to complete or undo it",
    )


def applied_too(
    session: Session, container: Container, plan_id: str, *, include_uncommitted: bool
) -> Report:
    """Applies a plan that has just run; returns the report of the run with the apply added."""
    from cleveragents.reports.plans.plan import plan_data

    request = _request(no_commit=False, branch=None, include_uncommitted=include_uncommitted)
    service = container.plan_service()
    try:
        report = apply_plan(session, container, plan_id, request, yes=True)
    except CleverAgentsError as error:
        failure = Failure.of(error, plan_data(service.status(plan_id)))
        if plan_id not in f"{failure.message} {failure.hint}":
            failure = replace(failure, hint=_with_next(failure.hint, plan_id))
        raise CommandFailed(failure) from error
    data = {**plan_data(service.status(plan_id)), "apply": report.data}
    return replace(report, data=data)


def _with_next(hint: str | None, plan_id: str) -> str:
    """Returns a hint for a plan that ran and was not applied; its options are those of `apply`."""
    following = f"The plan has run; apply it with `agents plan apply {plan_id}`"
    return f"{hint}. {following}" if hint else following


def _request(
    *,
    no_commit: bool,
    branch: str | None,
    include_uncommitted: bool,
    include_ignored: tuple[str, ...] = (),
) -> ApplyRequest:
    from cleveragents.domain.plans.apply import ApplyMode, ApplyRequest

    if no_commit and branch is not None:
        raise UsageError(
            "`--no-commit` and `--branch` cannot be combined", hint="Leave one of them out"
        )
    mode = ApplyMode.NO_COMMIT if no_commit else ApplyMode.COMMIT
    return ApplyRequest(
        mode=mode if branch is None else ApplyMode.BRANCH,
        branch=branch,
        include_uncommitted=include_uncommitted,
        include_ignored=include_ignored,
    )
