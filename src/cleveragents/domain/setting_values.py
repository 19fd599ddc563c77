"""How the values of settings are read from TOML and from text."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from difflib import get_close_matches
from typing import cast

from cleveragents.domain.checkpoint import Trigger
from cleveragents.domain.formats import OutputFormat

TRIGGER_ALIASES = {
    "on_tool_write": Trigger.BEFORE_TOOL_EXECUTE,
    "on_tool_write_complete": Trigger.AFTER_TOOL_EXECUTE,
}
DATABASES = ("sqlite:", "postgresql+psycopg:")


class BadValue(ValueError):
    """Why a value is refused, as the second half of a sentence."""


def triggers(value: object) -> tuple[Trigger, ...]:
    """Reads a list, or its text; old names become the present ones, repeats are dropped."""
    names = _listed(value) if isinstance(value, str) else value
    if not isinstance(names, list):
        raise BadValue("it must be a list of triggers")
    return tuple(dict.fromkeys(_trigger(name) for name in cast("list[object]", names)))


def positive_integer(value: object) -> int:
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,18}\s*", value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise BadValue("it must be a whole number, 1 or more")
    return value


def output_format(value: object) -> OutputFormat:
    for known in OutputFormat:
        if value == known.value:
            return known
    raise BadValue(f"it must be one of {', '.join(OutputFormat)}")


def database_url(value: object) -> str:
    if not isinstance(value, str) or not value.startswith(DATABASES):
        raise BadValue(f"it must begin with {' or '.join(DATABASES)}")
    return value


def concealed_url(url: str) -> str:
    """Returns the URL with its password starred out."""
    return re.sub(r"(?<=://)([^:/@]*):[^/]*@", r"\1:***@", url)


def _listed(text: str) -> object:
    """Reads `a, b`, `["a", "b"]` or nothing at all."""
    text = text.strip()
    if not text.startswith("["):
        return [item.strip() for item in text.split(",")] if text else []
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return tomllib.loads(f"list = {text}")["list"]
    except tomllib.TOMLDecodeError:
        raise BadValue("it begins like a list but is none") from None


def _trigger(name: object) -> Trigger:
    if isinstance(name, str):
        if name in TRIGGER_ALIASES:
            return TRIGGER_ALIASES[name]
        for trigger in Trigger:
            if name == trigger.value:
                return trigger
    known: Iterable[str] = [*Trigger]
    nearest = get_close_matches(str(name), known, n=1, cutoff=0.4)
    suggestion = f"; did you mean {nearest[0]}?" if nearest else ""
    raise BadValue(f"{name!r} is not one of {', '.join(known)}{suggestion}")
