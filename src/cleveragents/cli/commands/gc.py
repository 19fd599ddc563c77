"""`agents gc`: reclaim disk space that no checkpoint needs."""

from __future__ import annotations

import click

from cleveragents.cli import frame
from cleveragents.cli.session import Session
from cleveragents.reports.report import Report


@frame.command(
    "gc",
    help="Reclaim disk space that no checkpoint needs",
    epilog="Examples:\n  agents gc --dry-run\n  agents gc --format json",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be reclaimed.")
@frame.pass_session
def gc(session: Session, dry_run: bool) -> Report:
    from cleveragents.reports.installation.maintenance import garbage_report

    container = session.container(None)
    return garbage_report(container.maintenance_service().collect_garbage(dry_run=dry_run))
