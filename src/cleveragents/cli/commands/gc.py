"""`agents gc`: give back the space of what nothing needs any more."""

from __future__ import annotations

import click

from cleveragents.cli import frame
from cleveragents.cli.session import Session
from cleveragents.reports.report import Report


@frame.command(
    "gc",
    help="Reclaim the space of what no checkpoint needs any more",
    epilog="Examples:\n  agents gc --dry-run\n  agents gc --format json",
)
@click.option("--dry-run", is_flag=True, help="Say what would be reclaimed and change nothing.")
@frame.pass_session
def gc(session: Session, dry_run: bool) -> Report:
    from cleveragents.reports.installation.maintenance import garbage_report

    container = session.container(None)
    return garbage_report(container.maintenance_service().collect_garbage(dry_run=dry_run))
