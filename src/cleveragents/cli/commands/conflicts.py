"""`agents plan conflicts`: where subplans have changed the same, and what holds there."""

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
        "`mine` is what the plan has, other subplans' part included; `theirs` is what the subplan\n"
        "made; `edited` is what is in the sandbox now. Then go on with `agents plan resume`.\n\n"
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
    help="Which version to keep at these paths.",
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
            "Give both `--take` and the paths, or `--all`",
            hint=f"As in `agents plan conflicts {plan_ref} --take theirs --all`",
        )
    with open_plan(session, plan_ref) as (container, found):
        service = container.conflict_service()
        if take is None:
            return conflicts_report(service.conflicts(found.id))
        end_interrupted(session, container, found.id)
        return conflicts_report(service.resolve(found.id, ConflictResolution(take), paths))
