"""The settings: a registry of keys, and the rules that choose one value from five levels.

To add a setting, add one `Key` to `REGISTRY`; to read it, write `settings[THE_KEY]`. Nothing here
reads files or variables: `cleveragents.infrastructure.config` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any, Generic, NamedTuple, TypeVar, cast

import msgspec

from cleveragents.domain.checkpoints.checkpoint import Trigger
from cleveragents.domain.errors import ConfigurationError
from cleveragents.domain.plans.cleanup import SandboxCleanup
from cleveragents.domain.plans.lease import LEASE_SECONDS
from cleveragents.domain.plans.session import Isolation
from cleveragents.domain.sandboxes.resource import PLAN_STRATEGIES, SandboxStrategy
from cleveragents.domain.settings.formats import OutputFormat
from cleveragents.domain.settings.values import (
    BadValue,
    byte_count,
    concealed_url,
    database_url,
    isolation,
    lease_time,
    output_format,
    patterns,
    positive_integer,
    sandbox_cleanup,
    sandbox_strategy,
    seconds,
    triggers,
)

T = TypeVar("T")


class Level(StrEnum):
    """The source of a value, the strongest first."""

    FLAG = "flag"
    ENVIRONMENT = "environment"
    PROJECT = "project"
    GLOBAL = "global"
    DEFAULT = "default"


class Key(msgspec.Struct, Generic[T], frozen=True):
    """One setting: its row on the reference page, and how its values are read."""

    name: str
    type: str
    default: T
    environment: str
    project_scopable: bool
    """Whether a project's own file may set it; a project is not trusted with everything."""
    description: str
    read: Callable[[object], T]
    """Converts a TOML value or a text. Raises `BadValue`."""
    allowed: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    """Other accepted names, written with hyphens; underscores mean the same."""
    deprecated: tuple[str, ...] = ()
    """Accepted with a warning."""
    conceal: Callable[[str], str] = str
    """Removes secrets from a value before it is printed."""

    def shown(self, value: object) -> str | int | float | list[str] | None:
        """Returns the value in the types of TOML and JSON, without secrets."""
        plain = plain_value(value)
        return self.conceal(plain) if isinstance(plain, str) else plain


AUTO_CREATE_ON: Key[tuple[Trigger, ...]] = Key(
    name="sandbox.checkpoint.auto-create-on",
    type="list",
    default=(
        Trigger.BEFORE_TOOL_EXECUTE,
        Trigger.AFTER_TOOL_EXECUTE,
        Trigger.ON_SUBPLAN_SPAWN,
        Trigger.ON_ERROR,
    ),
    environment="CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON",
    project_scopable=True,
    description="Events that create a checkpoint; an empty list turns them all off",
    read=triggers,
    allowed=tuple(Trigger),
    deprecated=("core.checkpoints.auto-create-on",),
)
MAX_CHECKPOINTS_PER_PLAN: Key[int] = Key(
    name="sandbox.checkpoint.max-checkpoints-per-plan",
    type="integer",
    default=50,
    environment="CLEVERAGENTS_CHECKPOINT_MAX_CHECKPOINTS_PER_PLAN",
    project_scopable=True,
    description="Different states a plan keeps checkpoints of; the oldest that are not needed "
    "are dropped first",
    read=positive_integer,
    aliases=("max-checkpoints-per-plan",),
    deprecated=("core.checkpoints.max-checkpoints-per-plan",),
)
INCLUDE_IGNORED: Key[tuple[str, ...]] = Key(
    name="sandbox.checkpoint.include-ignored",
    type="list",
    default=(),
    environment="CLEVERAGENTS_CHECKPOINT_INCLUDE_IGNORED",
    project_scopable=True,
    description="Ignored paths that checkpoints include anyway: patterns, or `all`. A pattern "
    "without `/` matches a name anywhere, one with `/` matches a path from the top",
    read=patterns,
)
MAX_FILE_SIZE: Key[int | None] = Key(
    name="sandbox.checkpoint.max-file-size",
    type="size",
    default=None,
    environment="CLEVERAGENTS_CHECKPOINT_MAX_FILE_SIZE",
    project_scopable=True,
    description="Larger files are not captured, but listed as such; unset means no limit",
    read=byte_count,
)
MAX_SIZE_PER_PLAN: Key[int | None] = Key(
    name="sandbox.checkpoint.max-size-per-plan",
    type="size",
    default=None,
    environment="CLEVERAGENTS_CHECKPOINT_MAX_SIZE_PER_PLAN",
    project_scopable=True,
    description="How much the checkpoints of one resource of a plan may add to the store; files "
    "beyond the limit are not captured, but listed as such; unset means no limit",
    read=byte_count,
)
DEADLINE: Key[float | None] = Key(
    name="sandbox.checkpoint.deadline",
    type="seconds",
    default=None,
    environment="CLEVERAGENTS_CHECKPOINT_DEADLINE",
    project_scopable=True,
    description="How long a checkpoint may search for changes; one that takes longer is recorded "
    "as partial, and stops a plan that requires checkpoints; unset means no limit",
    read=seconds,
)
STRATEGY: Key[SandboxStrategy] = Key(
    name="sandbox.strategy",
    type="string",
    default=SandboxStrategy.GIT_WORKTREE,
    environment="CLEVERAGENTS_SANDBOX_STRATEGY",
    project_scopable=False,
    description="How resources are isolated whose plan names no strategy, if their type allows "
    "it; other resources have the default of their type. `none` is refused for plans that "
    "require sandboxes",
    read=sandbox_strategy,
    allowed=PLAN_STRATEGIES,
)
CLEANUP: Key[SandboxCleanup] = Key(
    name="sandbox.cleanup",
    type="string",
    default=SandboxCleanup.ON_APPLY,
    environment="CLEVERAGENTS_SANDBOX_CLEANUP",
    project_scopable=True,
    description="When a plan's sandboxes are removed: when it is applied, also when it is "
    "cancelled, or never. Finished work that is not applied is kept unless you add `--discard`",
    read=sandbox_cleanup,
    allowed=tuple(SandboxCleanup),
)
REBUILDABLE: Key[tuple[str, ...]] = Key(
    name="sandbox.rebuildable",
    type="list",
    default=(
        *("node_modules", ".venv", "venv", "target", "__pycache__", ".pytest_cache"),
        *(".mypy_cache", ".tox", ".nox", ".gradle", ".next"),
    ),
    environment="CLEVERAGENTS_SANDBOX_REBUILDABLE",
    project_scopable=True,
    description="Directories that a tool can make again: where no checkpoint holds them, apply "
    "leaves them out without a warning. Patterns, as in `sandbox.checkpoint.include-ignored`",
    read=patterns,
)
IGNORED_MAX_SIZE: Key[int | None] = Key(
    name="session.ignored-max-size",
    type="size",
    default=5 << 20,
    environment="CLEVERAGENTS_SESSION_IGNORED_MAX_SIZE",
    project_scopable=True,
    description="In a session in place, ignored files up to this size are captured, except in "
    "directories that `sandbox.rebuildable` names; larger ones are listed as not captured",
    read=byte_count,
)
ISOLATION: Key[Isolation] = Key(
    name="session.isolation",
    type="string",
    default=Isolation.AUTO,
    environment="CLEVERAGENTS_SESSION_ISOLATION",
    # A project that somebody else wrote must not decide that commands work on the user's files.
    project_scopable=False,
    description="Where the command of `agents run` works: `private` in a private view of the "
    "project, `in-place` on your own files, `copy` in a copy; `auto` is private where that is "
    "possible, and asks otherwise",
    read=isolation,
    allowed=tuple(Isolation),
)
MAX_CHILD_DEPTH: Key[int] = Key(
    name="plan.max-child-depth",
    type="integer",
    default=5,
    environment="CLEVERAGENTS_PLAN_MAX_CHILD_DEPTH",
    project_scopable=True,
    description="Maximum nesting depth of plans; 1 disables subplans",
    read=positive_integer,
)
CONCURRENCY: Key[int | None] = Key(
    name="plan.concurrency",
    type="integer",
    default=None,
    environment="CLEVERAGENTS_PLAN_CONCURRENCY",
    project_scopable=False,
    description="How many plans run at the same time with one home directory; the others wait, "
    "for at most ten minutes. Subplans are part of their plan; unset means no limit",
    read=positive_integer,
)
LEASE_TIME: Key[float] = Key(
    name="plan.lease-time",
    type="seconds",
    default=LEASE_SECONDS,
    environment="CLEVERAGENTS_PLAN_LEASE_TIME",
    project_scopable=False,
    description="How long a plan stays with a process that no longer answers, before a process "
    "with another home directory may take it over: 5 to 3600 seconds. A process that cannot "
    "renew its lease for half of this time ends its tool and stops",
    read=lease_time,
)
FORMAT: Key[OutputFormat | None] = Key(
    name="core.format",
    type="string",
    default=None,
    environment="CLEVERAGENTS_FORMAT",
    project_scopable=False,
    description="Output format; unset means rich on a terminal and plain otherwise",
    read=output_format,
    allowed=tuple(OutputFormat),
)
DATABASE_URL: Key[str | None] = Key(
    name="core.database-url",
    type="string",
    default=None,
    environment="CLEVERAGENTS_DATABASE_URL",
    project_scopable=False,
    description="The database of all records; unset means the file state.db in the home directory",
    read=database_url,
    conceal=concealed_url,
)

REGISTRY: tuple[Key[Any], ...] = (
    AUTO_CREATE_ON,
    MAX_CHECKPOINTS_PER_PLAN,
    INCLUDE_IGNORED,
    MAX_FILE_SIZE,
    MAX_SIZE_PER_PLAN,
    DEADLINE,
    STRATEGY,
    CLEANUP,
    REBUILDABLE,
    IGNORED_MAX_SIZE,
    ISOLATION,
    MAX_CHILD_DEPTH,
    CONCURRENCY,
    LEASE_TIME,
    FORMAT,
    DATABASE_URL,
)


class SettingEntry(NamedTuple):
    """A value as one level gives it, before it is checked."""

    level: Level
    origin: str
    """The file, the variable or the option."""
    name: str
    value: object


class ResolvedValue(NamedTuple):
    """A checked value, and the level it comes from."""

    level: Level
    origin: str | None
    value: object


class Settings(msgspec.Struct, frozen=True):
    """The values in effect, each with the values of weaker levels."""

    chains: Mapping[str, tuple[ResolvedValue, ...]]
    """By key name; the first of each chain wins, the last is the default."""
    warnings: tuple[str, ...]

    def __getitem__(self, key: Key[T]) -> T:
        return cast("T", self.winner(key).value)

    def winner(self, key: Key[Any]) -> ResolvedValue:
        return self.chains[key.name][0]


def resolve_settings(entries: Iterable[SettingEntry]) -> Settings:
    """Checks every entry, including overridden ones, and ranks them.

    Raises:
        ConfigurationError: a key is unknown, a value is invalid, a project sets a key that it
            may not set, or one source sets a key twice under two names.
    """
    chains: dict[str, dict[Level, ResolvedValue]] = {key.name: {} for key in REGISTRY}
    warnings: list[str] = []
    for entry in entries:
        key = find_key(entry)
        chain = chains[key.name]
        if entry.level in chain:
            raise _refusal(key, entry, "is set twice, under two names")
        if entry.level is Level.PROJECT and not key.project_scopable:
            raise _refusal(key, entry, "cannot be set by a project, only by the user")
        chain[entry.level] = ResolvedValue(entry.level, entry.origin, checked(key, entry))
        warnings += deprecation(key, entry)
    ranked = {
        key.name: (
            *(chains[key.name][level] for level in Level if level in chains[key.name]),
            ResolvedValue(Level.DEFAULT, None, key.default),
        )
        for key in REGISTRY
    }
    return Settings(ranked, tuple(warnings))


def find_key(entry: SettingEntry) -> Key[Any]:
    """Returns the key for the entry's name, which may be an alias or an old name.

    Raises:
        ConfigurationError: the name is unknown.
    """
    folded = _folded(entry.name)
    for key in REGISTRY:
        if folded in (key.name, *key.aliases, *key.deprecated):
            return key
    from difflib import get_close_matches

    names = [key.name for key in REGISTRY]
    nearest = get_close_matches(folded, names, n=1, cutoff=0.5)
    suggestion = f"Did you mean `{nearest[0]}`? " if nearest else ""
    raise ConfigurationError(
        f"Unknown setting `{entry.name}` {_origin(entry.level, entry.origin)}",
        hint=f"{suggestion}The settings are {', '.join(names)}",
        key=entry.name,
        source=entry.origin,
        allowed=names,
    )


def deprecation(key: Key[Any], entry: SettingEntry) -> tuple[str, ...]:
    """Returns a warning if the entry uses an old name of the key."""
    if _folded(entry.name) not in key.deprecated:
        return ()
    origin = _origin(entry.level, entry.origin)
    return (f"`{entry.name}` {origin} is now called `{key.name}`",)


def checked(key: Key[T], entry: SettingEntry) -> T:
    """Returns the entry's value, converted to the type of the key.

    Raises:
        ConfigurationError: the value is invalid for the key.
    """
    try:
        return key.read(entry.value)
    except BadValue as problem:
        raise _refusal(key, entry, f"cannot be {key.shown(entry.value)!r}: {problem}") from None


def plain_value(value: object) -> str | int | float | list[str] | None:
    """Returns the value in the types of TOML and JSON."""
    if isinstance(value, (list, tuple)):
        return [str(item) for item in cast("Iterable[object]", value)]
    if value is None or isinstance(value, int | float):
        return value
    return str(value)


def _refusal(key: Key[Any], entry: SettingEntry, problem: str) -> ConfigurationError:
    origin = _origin(entry.level, entry.origin)
    return ConfigurationError(
        f"`{entry.name}` {origin} {problem}",
        hint=f"Run `agents config get {key.name} --verbose` to see all levels",
        key=key.name,
        value=key.shown(entry.value),
        source=entry.origin,
        allowed=list(key.allowed),
    )


def _origin(level: Level, origin: str) -> str:
    match level:
        case Level.FLAG:
            return "on the command line"
        case Level.ENVIRONMENT:
            return f"in the variable {origin}"
        case _:
            return f"in {origin}"


def _folded(name: str) -> str:
    return name.replace("_", "-")
