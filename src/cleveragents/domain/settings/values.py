"""Converts the values of settings from TOML and from text."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from typing import cast

from cleveragents.domain.checkpoints.checkpoint import Trigger
from cleveragents.domain.plans.cleanup import SandboxCleanup
from cleveragents.domain.plans.lease import LONGEST_LEASE_SECONDS, SHORTEST_LEASE_SECONDS
from cleveragents.domain.plans.session import Isolation
from cleveragents.domain.sandboxes.resource import PLAN_STRATEGIES, SandboxStrategy
from cleveragents.domain.settings.formats import OutputFormat

TRIGGER_ALIASES = {
    "on_tool_write": Trigger.BEFORE_TOOL_EXECUTE,
    "on_tool_write_complete": Trigger.AFTER_TOOL_EXECUTE,
}
_BYTES = {
    **dict.fromkeys(("", "b"), 1),
    **{f"{unit}b": 1000**power for power, unit in enumerate("kmgt", start=1)},
    **{f"{unit}ib": 1024**power for power, unit in enumerate("kmgt", start=1)},
}
DATABASES = ("sqlite:", "postgresql+psycopg:")


class BadValue(ValueError):
    """Why a value is invalid, as the second half of a sentence."""


def triggers(value: object) -> tuple[Trigger, ...]:
    """Reads a list or its text; replaces old names and drops repetitions."""
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


def byte_count(value: object) -> int:
    """Reads a number of bytes, or one with a unit: `500`, `20 MB`, `1.5GiB`."""
    if isinstance(value, str):
        parts = re.fullmatch(r"\s*([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([A-Za-z]*)\s*", value)
        if parts and parts[2].lower() in _BYTES:
            value = int(float(parts[1]) * _BYTES[parts[2].lower()])
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise BadValue("it must be a size such as 500 kB, 20 MB or 1.5 GiB")
    return value


def seconds(value: object) -> float:
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,9}(\.[0-9]{1,6})?\s*", value):
        value = float(value)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < 1e9:
        raise BadValue("it must be a number of seconds, more than 0")
    return float(value)


def lease_time(value: object) -> float:
    """Reads a number of seconds that a lease may last."""
    found = seconds(value)
    if not SHORTEST_LEASE_SECONDS <= found <= LONGEST_LEASE_SECONDS:
        raise BadValue(
            f"it must be {SHORTEST_LEASE_SECONDS:g} to {LONGEST_LEASE_SECONDS:g} seconds"
        )
    return found


def patterns(value: object) -> tuple[str, ...]:
    """Reads a list of path patterns, or its text."""
    names = _listed(value) if isinstance(value, str) else value
    if not isinstance(names, list):
        raise BadValue("it must be a list of patterns")
    for name in cast("list[object]", names):
        if not isinstance(name, str) or not name.strip("/"):
            raise BadValue(f"{name!r} is not a path pattern")
        if name.startswith("!") or ".." in name.split("/"):
            raise BadValue(f"{name!r} is not a path pattern inside the project")
    return tuple(dict.fromkeys(cast("list[str]", names)))


def output_format(value: object) -> OutputFormat:
    for known in OutputFormat:
        if value == known.value:
            return known
    raise BadValue(f"it must be one of {', '.join(OutputFormat)}")


def sandbox_cleanup(value: object) -> SandboxCleanup:
    for known in SandboxCleanup:
        if value == known.value:
            return known
    raise BadValue(f"it must be one of {', '.join(SandboxCleanup)}")


def isolation(value: object) -> Isolation:
    for known in Isolation:
        if value == known.value:
            return known
    raise BadValue(f"it must be one of {', '.join(Isolation)}")


def sandbox_strategy(value: object) -> SandboxStrategy:
    for known in PLAN_STRATEGIES:
        if value == known.value:
            return known
    raise BadValue(f"it must be one of {', '.join(PLAN_STRATEGIES)}")


def database_url(value: object) -> str:
    if not isinstance(value, str) or not value.startswith(DATABASES):
        raise BadValue(f"it must begin with {' or '.join(DATABASES)}")
    return value


def concealed_url(url: str) -> str:
    """Returns the URL with its passwords replaced by stars, wherever they are in it."""
    hidden = re.sub(r"(?<=://)([^:/@]*):[^/]*@", r"\1:***@", url)
    return re.sub(r"(?i)(?<=[?&])(password|sslpassword)=[^&]*", r"\1=***", hidden)


def _listed(text: str) -> object:
    """Reads `a, b`, `["a", "b"]` or an empty text."""
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
        raise BadValue("it begins like a list but is not valid") from None


def _trigger(name: object) -> Trigger:
    if isinstance(name, str):
        if name in TRIGGER_ALIASES:
            return TRIGGER_ALIASES[name]
        for trigger in Trigger:
            if name == trigger.value:
                return trigger
    from difflib import get_close_matches

    known: Iterable[str] = [*Trigger]
    nearest = get_close_matches(str(name), known, n=1, cutoff=0.4)
    suggestion = f"; did you mean {nearest[0]}?" if nearest else ""
    raise BadValue(f"{name!r} is not one of {', '.join(known)}{suggestion}")
