"""`agents plan resume`, `cancel` and `errors`: for plans that did not finish."""

from __future__ import annotations

import click

from cleveragents.cli import frame
from cleveragents.cli.commands.options import progress_option, refused
from cleveragents.cli.commands.plan import execute_plan, open_plan, plan_argument, yes_option
from cleveragents.cli.session import Session
from cleveragents.domain.errors import UsageError
from cleveragents.reports.report import Report

REASON_LENGTH = 1000


@frame.command(
    "resume",
    help="Resume a plan that failed, was interrupted or was rolled back",
    epilog="The sandbox is restored to the last checkpoint first; its current state is saved.\n\n"
    "Examples:\n  agents plan resume @latest --dry-run\n  agents plan resume @latest",
)
@plan_argument
@click.option("--dry-run", is_flag=True, help="Only show where it would resume.")
@yes_option
@progress_option
@frame.pass_session
def resume(session: Session, plan_ref: str, dry_run: bool, yes: bool) -> Report:
    from cleveragents.reports.plans.lifecycle import resume_report, resume_sentence

    with open_plan(session, plan_ref) as (container, found):
        service = container.plan_resume_service()
        summary = service.summary(found.id)
        if dry_run:
            return resume_report(summary)
        if summary.eligible:
            session.say(resume_sentence(summary))
        return execute_plan(session, container, found, service.resume, yes=yes)


@frame.command(
    "cancel",
    help="Cancel a plan; its checkpoints and, unless --discard is given, its sandbox are kept",
    epilog="A plan that is being executed is stopped first, as by Ctrl-C.\n\n"
    "Examples:\n  agents plan cancel @latest --reason 'the other approach won'\n"
    "  agents plan cancel @latest --discard",
)
@plan_argument
@click.option("--reason", help="Why, for the record.")
@click.option("--discard", is_flag=True, help="Remove the sandbox, even if it has changes.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask before the sandbox is removed.")
@frame.pass_session
def cancel(session: Session, plan_ref: str, reason: str | None, discard: bool, yes: bool) -> Report:
    from cleveragents.cli.commands.plan import end_interrupted
    from cleveragents.reports.plans.lifecycle import cancel_report, discard_text

    if reason is not None and not 0 < len(reason.strip()) <= REASON_LENGTH:
        raise UsageError(f"A reason must have between 1 and {REASON_LENGTH} characters")
    with open_plan(session, plan_ref) as (container, found):
        service = container.plan_service()
        if discard and not yes:
            text = discard_text(service.status(found.id))
            if text is not None:
                session.say(text)
                if not session.confirm("Discard?"):
                    return refused()
        service.stop(found.id)
        end_interrupted(session, container, found.id, complete_apply=False)
        return cancel_report(service.cancel(found.id, reason, discard=discard))


@frame.command(
    "errors",
    help="Show what went wrong with a plan and what you can do",
    epilog="Example:\n  agents plan errors @latest",
)
@plan_argument
@frame.pass_session
def errors(session: Session, plan_ref: str) -> Report:
    from cleveragents.reports.plans.lifecycle import errors_report

    with open_plan(session, plan_ref) as (container, found):
        return errors_report(container.plan_service().problems(found.id))
