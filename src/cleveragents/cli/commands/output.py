"""`agents plan output`: what the steps and validations of a plan printed."""

from __future__ import annotations

import click

from cleveragents.cli import frame
from cleveragents.cli.commands.plan import open_plan, plan_argument
from cleveragents.cli.session import Session
from cleveragents.reports.report import Report


@frame.command(
    "output",
    help="Show what the steps and validations of a plan printed",
    epilog="STEP is the number or name of a step, or the name of a validation. Lines marked `!`\n"
    "were written to standard error.\n\n"
    "Examples:\n  agents plan output @latest\n  agents plan output @latest 2\n"
    "  agents plan output @latest tests",
)
@plan_argument
@click.argument("step", metavar="[STEP]", required=False)
@frame.pass_session
def output(session: Session, plan_ref: str, step: str | None) -> Report:
    from cleveragents.reports.plans.output import output_report

    with open_plan(session, plan_ref) as (container, found):
        return output_report(found, container.output_service().output(found.id, step))
