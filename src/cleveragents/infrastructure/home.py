"""The home directory, which contains all state: records, mirrors, sandboxes, configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cleveragents.domain.errors import ConfigurationError

VARIABLE = "CLEVERAGENTS_HOME"


def home_directory(environ: Mapping[str, str]) -> Path:
    """Returns the absolute path of the home directory, which need not exist yet.

    Raises:
        ConfigurationError: neither `CLEVERAGENTS_HOME` nor the user's home is known.
    """
    given = environ.get(VARIABLE, "")
    try:
        return (Path(given).expanduser() if given else Path.home() / ".cleveragents").absolute()
    except RuntimeError as error:
        raise ConfigurationError(
            "There is no home directory for plans and checkpoints",
            hint=f"Set the environment variable {VARIABLE} to a directory",
            source=VARIABLE,
        ) from error


def create_private_directory(path: Path) -> Path:
    """Creates the directory with access for its owner only; an existing one stays unchanged."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path
