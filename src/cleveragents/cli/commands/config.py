"""`agents config`: show and change settings, and where each value comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cleveragents.cli import frame
from cleveragents.cli.session import Session
from cleveragents.domain.errors import ConfigurationError, UsageError
from cleveragents.domain.settings.registry import (
    REGISTRY,
    Key,
    Level,
    SettingEntry,
    checked,
    deprecation,
    find_key,
)
from cleveragents.infrastructure.config import find_project, global_file, is_home, project_file
from cleveragents.infrastructure.config.files import refuse_link, remove_value, write_value
from cleveragents.reports.installation.settings import (
    as_typed,
    change_report,
    setting_list_report,
    setting_report,
)
from cleveragents.reports.report import Report

config = frame.group(
    "config",
    help="Manage the configuration",
    epilog="Example:\n  agents config get core.format --verbose",
    lazy={},
)


def _complete_key(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    return [key.name for key in REGISTRY if key.name.startswith(incomplete)]


_key_argument = click.argument("name", metavar="KEY", shell_complete=_complete_key)
_project_option = click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Use the configuration file of this project.",
)


@config.command(
    "get",
    help="Show a setting and where its value comes from",
    epilog="Example:\n  agents config get sandbox.checkpoint.auto-create-on --verbose",
)
@_key_argument
@click.option(
    "--verbose",
    "-v",
    is_flag=True,
    help="Show the value at every level.",
)
@_project_option
@frame.pass_session
def get(session: Session, name: str, verbose: bool, project: Path | None) -> Report:
    key = _key(session, name, None)
    settings = session.settings(_project_or_here(session, project))
    return setting_report(settings, key, verbose=verbose)


@config.command(
    "list",
    help="List the settings and where their values come from",
    epilog="Example:\n  agents config list --format json",
)
@_project_option
@frame.pass_session
def list_(session: Session, project: Path | None) -> Report:
    return setting_list_report(session.settings(_project_or_here(session, project)))


@config.command(
    "set",
    help="Change a setting for you, or with --project for a project",
    epilog="Example:\n  agents config set sandbox.checkpoint.max-checkpoints-per-plan 100",
    fixes_settings=True,
)
@_key_argument
@click.argument("value")
@_project_option
@frame.pass_session
def set_(session: Session, name: str, value: str, project: Path | None) -> Report:
    key = _key(session, name, value)
    entry = SettingEntry(Level.FLAG, "command line", key.name, value)
    new = checked(key, entry)
    level, path = _place(session, key, project)
    previous = write_value(path, level, key, new)
    session.warnings += _overruled(session, key, level, project)
    return change_report(key, level, path, new, previous)


@config.command(
    "unset",
    help="Remove a setting from your configuration, or from a project's",
    epilog="Example:\n  agents config unset core.format",
    fixes_settings=True,
)
@_key_argument
@_project_option
@frame.pass_session
def unset(session: Session, name: str, project: Path | None) -> Report:
    key = _key(session, name, None)
    level, path = _place(session, key, project)
    previous = remove_value(path, level, key)
    return change_report(key, level, path, None, previous)


def _key(session: Session, name: str, value: str | None) -> Key[Any]:
    """Finds the key, and warns if it was given by a deprecated name."""
    entry = SettingEntry(Level.FLAG, "command line", name, value)
    key = find_key(entry)
    session.warnings += deprecation(key, entry)
    return key


def _project_or_here(session: Session, project: Path | None) -> Path:
    return find_project(session.directory, session.home) if project is None else project.absolute()


def _place(session: Session, key: Key[Any], project: Path | None) -> tuple[Level, Path]:
    """Returns the file to change: the user's or, if one is given, the project's."""
    if project is None:
        return Level.GLOBAL, global_file(session.home)
    if not key.project_scopable:
        raise ConfigurationError(
            f"`{key.name}` cannot be set by a project, only by the user",
            hint="Leave out `--project`",
            key=key.name,
        )
    if is_home(project, session.home):
        raise UsageError(
            f"The configuration file of {project} is your user configuration",
            hint="Leave out `--project`",
        )
    path = project_file(project.absolute())
    refuse_link(path)
    return Level.PROJECT, path


def _overruled(
    session: Session, key: Key[Any], level: Level, project: Path | None
) -> tuple[str, ...]:
    """Returns a warning if a stronger level overrides the value that was just set."""
    try:
        chain = session.settings(_project_or_here(session, project)).chains[key.name]
    except ConfigurationError:
        return ()
    stronger = {Level.ENVIRONMENT} if level is Level.PROJECT else {Level.ENVIRONMENT, Level.PROJECT}
    return tuple(
        f"{key.name} is still {as_typed(key, given.value)} here: {given.origin} overrides it"
        for given in chain
        if given.level in stronger
    )[:1]
