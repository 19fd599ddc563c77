"""Collects the values of all levels of configuration, and finds the project's directory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from cleveragents.domain.settings.registry import (
    REGISTRY,
    Level,
    SettingEntry,
    Settings,
    resolve_settings,
)
from cleveragents.infrastructure.config.files import read_global_file, read_project_file

PROJECT_DIRECTORY = ".cleveragents"
FILE_NAME = "config.toml"


def load_settings(
    *, home: Path, project: Path | None, environ: Mapping[str, str], flags: Mapping[str, str]
) -> Settings:
    """Returns the settings that are in effect in `project`, or outside of any project.

    Args:
        home: The home directory of CleverAgents.
        project: The project's directory.
        environ: The environment variables.
        flags: The values of command line options, by the name of the setting.

    Raises:
        ConfigurationError: a file cannot be read, or a value is invalid.
    """
    return resolve_settings(
        [
            *(
                SettingEntry(Level.FLAG, "command line", name, value)
                for name, value in flags.items()
            ),
            *_environment(environ),
            *_project(home, project),
            *read_global_file(global_file(home)),
        ]
    )


def global_file(home: Path) -> Path:
    return home / FILE_NAME


def project_file(project: Path) -> Path:
    return project / PROJECT_DIRECTORY / FILE_NAME


def is_home(project: Path, home: Path) -> bool:
    """Returns whether the project's file would be the global one, as in the user's home."""
    return os.path.realpath(project / PROJECT_DIRECTORY) == os.path.realpath(home)


def find_project(start: Path, home: Path) -> Path:
    """Returns the nearest project among `start` and its parents, or `start` if there is none."""
    for directory in (start, *start.parents):
        if os.path.lexists(directory / ".git"):
            return directory
        if os.path.lexists(directory / PROJECT_DIRECTORY) and not is_home(directory, home):
            return directory
    return start


def _environment(environ: Mapping[str, str]) -> Iterator[SettingEntry]:
    """Yields the variables that are set; an empty one counts only as an empty list."""
    for key in REGISTRY:
        value = environ.get(key.environment)
        if value or (value is not None and key.type == "list"):
            yield SettingEntry(Level.ENVIRONMENT, key.environment, key.name, value)


def _project(home: Path, project: Path | None) -> list[SettingEntry]:
    if project is None or is_home(project, home):
        return []
    return read_project_file(project_file(project))
