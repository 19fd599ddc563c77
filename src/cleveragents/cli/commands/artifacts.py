"""`agents plan artifacts`: the files that a plan changed."""

from __future__ import annotations

from cleveragents.cli import frame
from cleveragents.cli.commands.options import all_option
from cleveragents.cli.commands.plan import open_plan, plan_argument
from cleveragents.cli.session import Session
from cleveragents.reports.report import Report


@frame.command(
    "artifacts",
    help="List the files that a plan changed, and the tool that changed each",
    epilog="Example:\n  agents plan artifacts @latest",
)
@plan_argument
@all_option
@frame.pass_session
def artifacts(session: Session, plan_ref: str) -> Report:
    from cleveragents.reports.plans.artifacts import artifacts_report

    with open_plan(session, plan_ref) as (container, found):
        return artifacts_report(container.artifact_service().artifacts(found.id))
