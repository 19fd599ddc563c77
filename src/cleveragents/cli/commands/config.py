"""`agents config`: see and change the settings, and learn where each comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import click

from cleveragents.cli import frame
from cleveragents.cli.session import Session
from cleveragents.domain.errors import ConfigurationError, UsageError
from cleveragents.domain.settings.registry import (
    REGISTRY,
    Key,
    Level,
    SettingEntry,
    Settings,
    checked,
    deprecation,
    find_key,
)
from cleveragents.infrastructure.config import find_project, global_file, is_home, project_file
from cleveragents.infrastructure.config.files import refuse_link, remove_value, write_value
from cleveragents.reports.report import Fields, Report, Table

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
    help="The project whose file is meant.",
)


@config.command(
    "get",
    help="Show a setting and where its value comes from",
    epilog="Example:\n  agents config get sandbox.checkpoint.auto-create-on --verbose",
)
@_key_argument
@click.option("--verbose", "-v", is_flag=True, help="Show every level, not only the winner.")
@_project_option
@frame.pass_session
def get(session: Session, name: str, verbose: bool, project: Path | None) -> Report:
    key = _key(session, name, None)
    settings = session.settings(_project_or_here(session, project))
    data = _described(settings, key)
    sections: tuple[Fields | Table, ...] = (
        Fields(
            "Setting",
            (
                ("key", key.name),
                ("value", _text(data["value"])),
                ("source", str(data["source"])),
                ("origin", _text(data["origin"])),
                ("default", _text(data["default"])),
                ("description", key.description),
            ),
        ),
    )
    if not verbose:
        return Report(data, sections)
    chain = _chain(settings, key)
    rows = tuple(
        (str(link["source"]), _text(link["value"]) if link["set"] else "", _text(link["origin"]))
        for link in chain
    )
    table = Table("Levels, the strongest first", ("Source", "Value", "Origin"), rows)
    return Report({**data, "chain": chain}, (*sections, table))


@config.command(
    "list",
    help="List the settings and where their values come from",
    epilog="Example:\n  agents config list --format json",
)
@_project_option
@frame.pass_session
def list_(session: Session, project: Path | None) -> Report:
    settings = session.settings(_project_or_here(session, project))
    described = [
        {
            **_described(settings, key),
            "environment": key.environment,
            "project_scopable": key.project_scopable,
        }
        for key in REGISTRY
    ]
    rows = tuple(
        (str(item["key"]), _text(item["value"]), str(item["source"]), _text(item["origin"]))
        for item in described
    )
    table = Table("Settings", ("Key", "Value", "Source", "Origin"), rows)
    return Report({"settings": described}, (table,))


@config.command(
    "set",
    help="Set a setting for the user, or with --project for a project",
    epilog="Example:\n  agents config set sandbox.checkpoint.max-checkpoints-per-plan 100",
    mends_settings=True,
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
    return _changed(key, level, path, key.shown(new), key.shown(previous))


@config.command(
    "unset",
    help="Remove a setting from its level",
    epilog="Example:\n  agents config unset core.format",
    mends_settings=True,
)
@_key_argument
@_project_option
@frame.pass_session
def unset(session: Session, name: str, project: Path | None) -> Report:
    key = _key(session, name, None)
    level, path = _place(session, key, project)
    previous = remove_value(path, level, key)
    return _changed(key, level, path, None, key.shown(previous))


def _key(session: Session, name: str, value: str | None) -> Key[Any]:
    """Finds the key and passes on the warning that an old name deserves."""
    entry = SettingEntry(Level.FLAG, "command line", name, value)
    key = find_key(entry)
    session.warnings += deprecation(key, entry)
    return key


def _project_or_here(session: Session, project: Path | None) -> Path:
    return find_project(session.directory, session.home) if project is None else project.absolute()


def _place(session: Session, key: Key[Any], project: Path | None) -> tuple[Level, Path]:
    """Returns the file to change: the user's, or that of the project given."""
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
            f"The file of {project} is the user's own configuration",
            hint="Leave out `--project`",
        )
    path = project_file(project.absolute())
    refuse_link(path)
    return Level.PROJECT, path


def _overruled(
    session: Session, key: Key[Any], level: Level, project: Path | None
) -> tuple[str, ...]:
    """Returns a warning if what was just set has no effect here."""
    try:
        chain = session.settings(_project_or_here(session, project)).chains[key.name]
    except ConfigurationError:
        return ()
    stronger = {Level.ENVIRONMENT} if level is Level.PROJECT else {Level.ENVIRONMENT, Level.PROJECT}
    return tuple(
        f"{key.name} is still {_text(key.shown(given.value))} here, which {given.origin} says"
        for given in chain
        if given.level in stronger
    )[:1]


def _described(settings: Settings, key: Key[Any]) -> dict[str, object]:
    winner = settings.winner(key)
    return {
        "key": key.name,
        "value": key.shown(winner.value),
        "source": winner.level.value,
        "origin": winner.origin,
        "default": key.shown(key.default),
        "description": key.description,
    }


def _chain(settings: Settings, key: Key[Any]) -> list[dict[str, object]]:
    """Returns all five levels, the silent ones too."""
    given = {link.level: link for link in settings.chains[key.name]}
    return [
        {
            "source": level.value,
            "origin": given[level].origin if level in given else None,
            "value": key.shown(given[level].value) if level in given else None,
            "set": level in given,
        }
        for level in Level
    ]


def _changed(key: Key[Any], level: Level, path: Path, value: object, previous: object) -> Report:
    data = {
        "key": key.name,
        "value": value,
        "previous": previous,
        "scope": level.value,
        "path": str(path),
    }
    rows = tuple((name, _text(item)) for name, item in data.items())
    done = "is no longer set" if value is None else "is set"
    return Report(data, (Fields("Setting", rows),), messages=(f"{key.name} {done}",))


def _text(value: object) -> str:
    """Returns a value as the user would type it; nothing for an unset one."""
    match value:
        case None:
            return ""
        case list():
            return ", ".join(cast("list[str]", value)) or "[]"
        case _:
            return str(value)
