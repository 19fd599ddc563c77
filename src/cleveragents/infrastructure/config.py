"""Reads the five levels of configuration, with where each value comes from.

flag > environment > project (`.cleveragents/config.toml` in the project) > global
(`config.toml` in the home directory) > default. Only this module and `cli/` see the
environment. `config_file.py` reads and writes a single file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from cleveragents.domain.settings import REGISTRY, Entry, Level, Settings, resolve
from cleveragents.infrastructure.config_file import read_global_file, read_project_file

PROJECT_DIRECTORY = ".cleveragents"
FILE_NAME = "config.toml"


def load_settings(
    *, home: Path, project: Path | None, environ: Mapping[str, str], flags: Mapping[str, str]
) -> Settings:
    """Returns the settings in force in `project`, or outside of any project.

    `flags` holds what options of the command line say, by key.

    Raises:
        ConfigurationError: a file cannot be read, or a level says something invalid.
    """
    return resolve(
        [
            *(Entry(Level.FLAG, "command line", name, value) for name, value in flags.items()),
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
    """Whether the project's file would be the global one, as in the user's own directory."""
    return os.path.realpath(project / PROJECT_DIRECTORY) == os.path.realpath(home)


def find_project(start: Path, home: Path) -> Path:
    """Returns the nearest directory from `start` upwards that is a project, else `start`."""
    for directory in (start, *start.parents):
        if os.path.lexists(directory / ".git"):
            return directory
        if os.path.lexists(directory / PROJECT_DIRECTORY) and not is_home(directory, home):
            return directory
    return start


def _environment(environ: Mapping[str, str]) -> Iterator[Entry]:
    """An empty variable is no value, except that an empty list is one."""
    for key in REGISTRY:
        value = environ.get(key.environment)
        if value or (value is not None and key.type == "list"):
            yield Entry(Level.ENVIRONMENT, key.environment, key.name, value)


def _project(home: Path, project: Path | None) -> list[Entry]:
    if project is None or is_home(project, home):
        return []
    return read_project_file(project_file(project))
