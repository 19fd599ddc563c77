"""`agents plan tree` and `explain`: a plan's decisions and the reasons for them."""

from __future__ import annotations

import click

from cleveragents.cli import frame
from cleveragents.cli.commands.plan import open_plan, plan_argument
from cleveragents.cli.session import Session
from cleveragents.reports.report import Report


@frame.command(
    "tree",
    help="Show the decisions of a plan",
    epilog="Example:\n  agents plan tree @latest --show-superseded",
)
@plan_argument
@click.option("--show-superseded", is_flag=True, help="Include superseded decisions.")
@frame.pass_session
def tree(session: Session, plan_ref: str, show_superseded: bool) -> Report:
    from cleveragents.reports.decisions.decision import tree_report

    with open_plan(session, plan_ref) as (container, found):
        service = container.decision_service()
        return tree_report(service.tree(found.id, superseded=show_superseded))


@frame.command(
    "explain",
    help="Explain one decision",
    epilog="A plan given instead of a decision means the plan's first decision.\n\n"
    "Example:\n  agents plan explain 01HXM8C2",
)
@click.argument("decision_ref", metavar="DECISION")
@click.option("--show-context", is_flag=True, help="Include what was known when it was made.")
@click.option("--show-reasoning", is_flag=True, help="Include how whoever decided arrived there.")
@frame.pass_session
def explain(
    session: Session, decision_ref: str, show_context: bool, show_reasoning: bool
) -> Report:
    from cleveragents.reports.decisions.decision import explain_report

    container = session.container(None)
    try:
        service = container.decision_service()
        decision = service.find(decision_ref, session.nearby())
        return explain_report(
            service.explain(decision), show_context=show_context, show_reasoning=show_reasoning
        )
    finally:
        container.close()
