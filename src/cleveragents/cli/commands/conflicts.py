"""`agents plan conflicts`: list and resolve conflicts between subplans."""

from __future__ import annotations

import click

from cleveragents.cli import frame
from cleveragents.cli.commands.plan import end_interrupted, open_plan, plan_argument
from cleveragents.cli.session import Session
from cleveragents.domain.errors import UsageError
from cleveragents.reports.report import Report


@frame.command(
    "conflicts",
    help="List and resolve conflicts between subplans",
    epilog=(
        "`mine` is the version of the plan, with the subplans merged so far; `theirs` is that of\n"
        "the subplan; `edited` is the file in the sandbox as it is now. When all conflicts are\n"
        "resolved, continue with `agents plan resume`.\n\n"
        "Examples:\n"
        "  agents plan conflicts @latest\n"
        "  agents plan conflicts @latest --take theirs src/app.py\n"
        "  agents plan conflicts @latest --take edited --all"
    ),
)
@plan_argument
@click.argument("paths", metavar="[PATH]…", nargs=-1)
@click.option(
    "--take",
    type=click.Choice(["mine", "theirs", "edited"]),
    help="The version to keep.",
)
@click.option("--all", "everything", is_flag=True, help="Resolve all open conflicts.")
@frame.pass_session
def conflicts(
    session: Session,
    plan_ref: str,
    paths: tuple[str, ...],
    take: str | None,
    everything: bool,
) -> Report:
    from cleveragents.domain.plans.subplan_merge import ConflictResolution
    from cleveragents.reports.plans.conflicts import conflicts_report

    if (take is not None) != (everything or bool(paths)) or (everything and paths):
        raise UsageError(
            "Give `--take` together with paths or `--all`",
            hint=f"As in `agents plan conflicts {plan_ref} --take theirs --all`",
        )
    with open_plan(session, plan_ref) as (container, found):
        service = container.conflict_service()
        if take is None:
            return conflicts_report(service.conflicts(found.id))
        end_interrupted(session, container, found.id)
        return conflicts_report(service.resolve(found.id, ConflictResolution(take), paths))
