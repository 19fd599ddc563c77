"""Reports a bug in this program: a sentence on the screen, the traceback in a file."""

from __future__ import annotations

import os
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from cleveragents.domain.errors import ConfigurationError
from cleveragents.infrastructure.home import create_private_directory, home_directory
from cleveragents.reports.report import Failure

EXIT_CODE = 70


def bug(error: Exception, environ: Mapping[str, str]) -> Failure:
    """Writes the traceback to a file, and returns a failure that names the file."""
    kind = type(error).__name__
    try:
        path = _write_log(traceback.format_exception(error), environ)
    except (OSError, ConfigurationError) as problem:
        where = f"The traceback could not be written: {problem}"
        details = {"type": kind, "traceback": None}
    else:
        where = f"The traceback is in {path}"
        details = {"type": kind, "traceback": str(path)}
    message = f"This is a bug in CleverAgents: {kind}: {error}"
    return Failure("bug", message, EXIT_CODE, where, details, None)


def _write_log(lines: list[str], environ: Mapping[str, str]) -> Path:
    """Writes a file that only its owner can read, because it may quote the user's data."""
    logs = create_private_directory(create_private_directory(home_directory(environ)) / "logs")
    path = logs / f"bug-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}-{os.getpid()}.log"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.writelines(lines)
    return path
