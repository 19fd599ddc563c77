"""Settings: their values, and the level that each value comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from cleveragents.domain.settings.registry import REGISTRY, Key, Level, ResolvedValue, Settings
from cleveragents.reports.described import Description, Field, shown
from cleveragents.reports.report import Report, Section


class _Setting(NamedTuple):
    key: Key[Any]
    winner: ResolvedValue


class _AtLevel(NamedTuple):
    """What one level says about a setting, if it says anything."""

    key: Key[Any]
    level: Level
    given: ResolvedValue | None


class _Change(NamedTuple):
    key: Key[Any]
    level: Level
    path: Path
    value: object
    previous: object


_SETTING = Description[_Setting](
    Field("key", "Key", lambda it: it.key.name),
    Field(
        "value",
        "Value",
        lambda it: it.key.shown(it.winner.value),
        lambda it: as_typed(it.key, it.winner.value),
    ),
    Field("source", "Source", lambda it: it.winner.level),
    Field("origin", "Origin", lambda it: it.winner.origin),
    Field(
        "default",
        "Default",
        lambda it: it.key.shown(it.key.default),
        lambda it: as_typed(it.key, it.key.default),
    ),
    Field("description", "Description", lambda it: it.key.description),
)

_LISTED = _SETTING.with_fields(
    Field("environment", None, lambda it: it.key.environment),
    Field("project_scopable", None, lambda it: it.key.project_scopable),
)

_LEVEL = Description[_AtLevel](
    Field("source", "Source", lambda it: it.level),
    Field("origin", "Origin", lambda it: it.given.origin if it.given else None),
    Field(
        "value",
        "Value",
        lambda it: it.key.shown(it.given.value) if it.given else None,
        lambda it: as_typed(it.key, it.given.value) if it.given else "",
    ),
    Field("set", None, lambda it: it.given is not None),
)

_CHANGE = Description[_Change](
    Field("key", "Key", lambda it: it.key.name),
    Field(
        "value",
        "Value",
        lambda it: it.key.shown(it.value),
        lambda it: as_typed(it.key, it.value),
    ),
    Field(
        "previous",
        "Previous",
        lambda it: it.key.shown(it.previous),
        lambda it: as_typed(it.key, it.previous),
    ),
    Field("scope", "Scope", lambda it: it.level),
    Field("path", "Path", lambda it: str(it.path)),
)


def as_typed(key: Key[Any], value: object) -> str:
    """Returns a value as the user would type it, without secrets; an unset one is empty."""
    plain = key.shown(value)
    return "[]" if plain == [] else shown(plain)


def setting_report(settings: Settings, key: Key[Any], *, verbose: bool) -> Report:
    """One setting; `verbose` adds what each of the five levels says."""
    setting = _Setting(key, settings.winner(key))
    data = _SETTING.data(setting)
    headings = ("Key", "Value", "Source", "Origin", "Default", "Description")
    sections: list[Section] = [_SETTING.fields("Setting", setting, *headings)]
    if verbose:
        given = {link.level: link for link in settings.chains[key.name]}
        levels = [_AtLevel(key, level, given.get(level)) for level in Level]
        data["chain"] = _LEVEL.list(levels)
        sections.append(
            _LEVEL.table("Levels, strongest first", levels, ("Source", "Value", "Origin"))
        )
    return Report(data, tuple(sections))


def setting_list_report(settings: Settings) -> Report:
    listed = [_Setting(key, settings.winner(key)) for key in REGISTRY]
    table = _LISTED.table("Settings", listed, ("Key", "Value", "Source", "Origin"))
    return Report({"settings": _LISTED.list(listed)}, (table,))


def change_report(
    key: Key[Any], level: Level, path: Path, value: object, previous: object
) -> Report:
    """The report after setting a value, or unsetting it if `value` is None."""
    change = _Change(key, level, path, value, previous)
    headings = ("Key", "Value", "Previous", "Scope", "Path")
    done = "is no longer set" if value is None else "is set"
    return Report(
        _CHANGE.data(change),
        (_CHANGE.fields("Setting", change, *headings),),
        (f"{key.name} {done}",),
    )
