"""What a plan did: `agents plan artifacts`, `agents plan log` and `agents plan output`."""

from __future__ import annotations

from collections.abc import Collection

import click

from cleveragents.cli import frame
from cleveragents.cli.commands.options import all_option
from cleveragents.cli.commands.plan import open_plan, plan_argument
from cleveragents.cli.session import Session
from cleveragents.domain.errors import UsageError
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


@frame.command(
    "log",
    help="Show the events of a plan, oldest first",
    epilog="Examples:\n  agents plan log @latest\n  agents plan log @latest --type tool --limit 5",
)
@plan_argument
@click.option(
    "--type",
    "prefixes",
    multiple=True,
    metavar="PREFIX",
    help="Only events whose type starts with this, such as `tool` or `plan.errored`; "
    "can be repeated.",
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the newest N events.")
@frame.pass_session
def log(session: Session, plan_ref: str, prefixes: tuple[str, ...], limit: int | None) -> Report:
    from cleveragents.reports.plans.log import log_report

    types = _types(prefixes) if prefixes else None
    with open_plan(session, plan_ref) as (container, found):
        return log_report(container.log_service().log(found.id, types), limit, bool(prefixes))


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


def _types(prefixes: tuple[str, ...]) -> Collection[str]:
    from cleveragents.domain.names import nearest
    from cleveragents.domain.plans.events import EVENT_TYPES

    for prefix in prefixes:
        if not any(known.startswith(prefix) for known in EVENT_TYPES):
            families = {known.partition(".")[0] for known in EVENT_TYPES}
            raise UsageError(
                f"No event type starts with `{prefix}`", hint=nearest(prefix, families)
            )
    return {known for known in EVENT_TYPES if known.startswith(prefixes)}
