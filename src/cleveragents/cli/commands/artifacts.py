"""`agents plan artifacts`: what a plan made."""

from __future__ import annotations

from cleveragents.cli import frame
from cleveragents.cli.commands.plan import open_plan, plan_argument
from cleveragents.cli.session import Session
from cleveragents.reports.report import Report


@frame.command(
    "artifacts",
    help="Show what a plan made, and which tool made it",
    epilog="Example:\n  agents plan artifacts @latest",
)
@plan_argument
@frame.pass_session
def artifacts(session: Session, plan_ref: str) -> Report:
    from cleveragents.reports.plans.artifacts import artifacts_report

    with open_plan(session, plan_ref) as (container, found):
        return artifacts_report(container.artifact_service().artifacts(found.id))
