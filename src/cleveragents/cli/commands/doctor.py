"""`agents doctor`: check the whole installation, and fix what is safe to fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cleveragents.cli import frame
from cleveragents.cli.session import Session
from cleveragents.domain.errors import ConfigurationError, UsageError
from cleveragents.reports.report import Report

if TYPE_CHECKING:
    from cleveragents.application.services.doctor_service import DoctorService


@frame.command(
    "doctor",
    help="Check the installation, and fix what is safe to fix",
    epilog=(
        "Without --fix or --adopt nothing is changed. The exit code is 1 if there are problems;\n"
        "warnings do not affect it.\n\n"
        "Examples:\n  agents doctor\n  agents doctor --fix\n  agents doctor --adopt\n"
        "  agents doctor --quick --format json"
    ),
    fixes_settings=True,
)
@click.option("--fix", is_flag=True, help="Fix what is safe to fix, and report it.")
@click.option(
    "--adopt", is_flag=True, help="Make records for plans on disk that the database does not know."
)
@click.option("--quick", is_flag=True, help="Skip reading back the contents of checkpoints.")
@frame.pass_session
def doctor(session: Session, fix: bool, adopt: bool, quick: bool) -> Report:
    from cleveragents.application.services.doctor_service import HealthExamination
    from cleveragents.reports.installation.health import health_report

    service, refused = _service(session)
    here = None if refused else _refused_here(session)
    asked = HealthExamination(
        fix=fix,
        quick=quick,
        refused=refused,
        refused_here=here,
        adopt=adopt,
        projects=_nearby(session),
    )
    return health_report(service.examine(asked))


def _service(session: Session) -> tuple[DoctorService, ConfigurationError | None]:
    """Returns the service, and the error if it had to ignore an invalid user configuration."""
    try:
        return session.container(None).doctor_service(), None
    except ConfigurationError as error:
        return session.default_container().doctor_service(), error


def _nearby(session: Session) -> list[str]:
    """Returns the project that the user is in, if there is one."""
    try:
        return session.nearby()
    except UsageError:
        return []


def _refused_here(session: Session) -> ConfigurationError | None:
    """Returns the error if the configuration of the current project is invalid."""
    from cleveragents.infrastructure.config import find_project

    try:
        session.settings(find_project(session.directory, session.home))
    except ConfigurationError as error:
        return error
    except UsageError:
        return None
    return None
