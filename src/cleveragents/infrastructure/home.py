"""The home directory, where all state lives; see section 3 of the design."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cleveragents.domain.errors import ConfigurationError

VARIABLE = "CLEVERAGENTS_HOME"


def home_directory(environ: Mapping[str, str]) -> Path:
    """Returns the absolute path of the home directory, which need not exist yet.

    Raises:
        ConfigurationError: there is neither `CLEVERAGENTS_HOME` nor a user's home.
    """
    given = environ.get(VARIABLE, "")
    try:
        return (Path(given).expanduser() if given else Path.home() / ".cleveragents").absolute()
    except RuntimeError as error:
        raise ConfigurationError(
            "There is no home directory to keep plans and checkpoints in",
            hint=f"Set the environment variable {VARIABLE} to a directory",
            source=VARIABLE,
        ) from error


def private_directory(path: Path) -> Path:
    """Makes the directory readable by its owner only, and leaves an existing one alone."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path
