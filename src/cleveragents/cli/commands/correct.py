"""`agents plan correct` and `prompt`: change a decision, add to it, or give guidance."""

from __future__ import annotations

from pathlib import Path
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
from cleveragents.domain.errors import UsageError
from cleveragents.reports.report import Report

if TYPE_CHECKING:
    from cleveragents.application.services.correction_service import (
        AppendRequest,
        CorrectionService,
    )
    from cleveragents.domain.decisions.decision import Decision

GUIDANCE_LENGTH = 10_000


@frame.command(
    "correct",
    help="Change a decision, or add to it",
    epilog=(
        "`revert` rolls the plan back to before the decision and supersedes what depends on it;\n"
        "everything else is kept. With --choose, `agents plan execute` then runs another of its\n"
        "options. `append` keeps everything and creates a child plan with the guidance as its\n"
        "prompt. With --steps or --choose, `agents plan execute` then runs it and adds its result\n"
        "to the plan. A plan given instead of a decision means the plan's first decision.\n\n"
        "Examples:\n"
        "  agents plan tree @latest\n"
        "  agents plan correct 01HXM8C2 --mode revert --choose database -g 'it will grow'\n"
        "  agents plan correct 01HXM8C2 --mode append --steps more.yaml -g 'tests too'"
    ),
)
@click.argument("decision_ref", metavar="DECISION")
@click.option(
    "--mode",
    type=click.Choice(("revert", "append")),
    required=True,
    help="Go back and redo the decision, or keep everything and add a child plan.",
)
@click.option("--guidance", "-g", required=True, metavar="TEXT", help="What to do instead, or why.")
@click.option(
    "--choose",
    metavar="OPTION",
    help="The option to use instead; with append, the option whose steps are added.",
)
@click.option(
    "--steps",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Only with append: a plan file whose steps are added.",
)
@yes_option
@dry_run_option
@all_option
@frame.pass_session
def correct(
    session: Session,
    decision_ref: str,
    mode: str,
    guidance: str,
    choose: str | None,
    steps: Path | None,
    yes: bool,
    dry_run: bool,
) -> Report:
    _check_guidance(guidance)
    if steps is not None and (mode == "revert" or choose is not None):
        other = "--mode revert" if mode == "revert" else "--choose"
        raise UsageError(
            f"`--steps` cannot be combined with `{other}`", hint="Leave one of them out"
        )
    from cleveragents.application.services.correction_service import AppendRequest
    from cleveragents.domain.checkpoints.operation import OperationKind

    finder = session.container(None)
    decision = finder.decision_service().find(decision_ref, session.nearby())
    with open_plan(session, decision.plan_id) as (container, found):
        ended = None if dry_run else end_interrupted(session, container, found.id)
        if ended is not None:
            return only_ended(ended, OperationKind.CORRECTION, found.id)
        service = container.correction_service()
        if mode == "revert":
            return _revert(session, service, decision, guidance, choose, yes=yes, dry_run=dry_run)
        more = None
        if steps is not None:
            more = container.plan_service().additional_steps(session.directory / steps, found.id)
        elif choose is not None:
            more = service.steps_of(decision, choose)
        work = AppendRequest(decision, guidance, more, choose)
        return _append(session, service, work, yes=yes, dry_run=dry_run)


@frame.command(
    "prompt",
    help="Give a plan guidance for its next steps",
    epilog="The guidance is recorded as a decision. Nothing is rolled back.\n\n"
    "Example:\n  agents plan prompt @latest 'keep the old file names'",
)
@plan_argument
@click.argument("text", metavar="TEXT")
@frame.pass_session
def prompt(session: Session, plan_ref: str, text: str) -> Report:
    from cleveragents.reports.decisions.corrections import prompt_report

    _check_guidance(text)
    with open_plan(session, plan_ref) as (container, found):
        end_interrupted(session, container, found.id)
        return prompt_report(container.correction_service().prompt(found.id, text))


def _check_guidance(guidance: str) -> None:
    if not 0 < len(guidance.strip()) <= GUIDANCE_LENGTH:
        raise UsageError(f"Guidance must have between 1 and {GUIDANCE_LENGTH} characters")


def _revert(
    session: Session,
    service: CorrectionService,
    decision: Decision,
    guidance: str,
    choose: str | None,
    *,
    yes: bool,
    dry_run: bool,
) -> Report:
    from cleveragents.reports.decisions.corrections import (
        preview_report,
        preview_text,
        revert_report,
    )

    preview = service.preview(decision, guidance, choose)
    if dry_run:
        return preview_report(preview, guidance, choose)
    if not yes:
        session.say(preview_text(preview))
        if not session.confirm("Correct?"):
            return refused()
    done = service.revert(decision, guidance, choose)
    return revert_report(done, service.history(decision.plan_id))


def _append(
    session: Session, service: CorrectionService, work: AppendRequest, *, yes: bool, dry_run: bool
) -> Report:
    from cleveragents.reports.decisions.corrections import (
        append_preview_report,
        append_report,
        append_text,
    )

    if dry_run:
        return append_preview_report(work)
    if not yes:
        session.say(append_text(work))
        if not session.confirm("Append?"):
            return refused()
    return append_report(service.append(work))
