"""`agents doctor`: look at the whole installation, and mend what is safe to mend."""

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
    help="Check the installation, and mend what is safe to mend",
    epilog=(
        "Without --fix nothing is changed. The exit code is 1 while there are problems;\n"
        "warnings do not change it.\n\n"
        "Examples:\n  agents doctor\n  agents doctor --fix\n  agents doctor --quick --format json"
    ),
    mends_settings=True,
)
@click.option("--fix", is_flag=True, help="Mend what is safe to mend, and say what was done.")
@click.option("--quick", is_flag=True, help="Do not read the stored bytes of checkpoints back.")
@frame.pass_session
def doctor(session: Session, fix: bool, quick: bool) -> Report:
    from cleveragents.application.services.doctor_service import HealthExamination
    from cleveragents.reports.installation.health import health_report

    service, refused = _service(session)
    here = None if refused else _refused_here(session)
    asked = HealthExamination(fix=fix, quick=quick, refused=refused, refused_here=here)
    return health_report(service.examine(asked))


def _service(session: Session) -> tuple[DoctorService, ConfigurationError | None]:
    """Returns the service, and why it knows nothing of the user's settings."""
    try:
        return session.container(None).doctor_service(), None
    except ConfigurationError as error:
        return session.default_container().doctor_service(), error


def _refused_here(session: Session) -> ConfigurationError | None:
    """Returns why the settings of the project that the user is in are refused."""
    from cleveragents.infrastructure.config import find_project

    try:
        session.settings(find_project(session.directory, session.home))
    except ConfigurationError as error:
        return error
    except UsageError:
        return None
    return None
