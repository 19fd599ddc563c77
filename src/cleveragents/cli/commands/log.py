"""`agents plan log`: the events of a plan."""

from __future__ import annotations

from collections.abc import Collection

import click

from cleveragents.cli import frame
from cleveragents.cli.commands.plan import open_plan, plan_argument
from cleveragents.cli.session import Session
from cleveragents.domain.errors import UsageError
from cleveragents.reports.report import Report


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
