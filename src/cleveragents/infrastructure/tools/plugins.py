"""Tools that installed packages offer as entry points.

They are looked for only when a plan names a tool that is not built in, or somebody lists
the tools; and each is imported only when it is needed itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from cleveragents.domain.errors import ConfigurationError
from cleveragents.domain.names import NAME
from cleveragents.tools import Tool

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "cleveragents.tools"


@dataclass(frozen=True)
class Plugin:
    """All that is offered under one name: one entry point, if all is well."""

    name: str
    entries: tuple[EntryPoint, ...]

    @property
    def source(self) -> str:
        """The packages it comes from, with their versions."""
        return " and ".join(sorted({_package(entry) for entry in self.entries}))

    @property
    def reference(self) -> str:
        """Where another process finds the tool: `module:name`."""
        return f"{self.entries[0].module}:{self.entries[0].attr}"

    def load(self) -> Tool:
        """Imports the tool.

        Raises:
            ConfigurationError: it cannot be imported, or is not a tool of that name.
        """
        entry, *others = self.entries
        if others:
            self._fail("more than one package offers it")
        try:
            found = entry.load()
        except (Exception, SystemExit) as error:
            self._fail(f"{type(error).__name__}: {error}", cause=error)
        if not isinstance(found, Tool):
            self._fail(f"{entry.value} is not a `cleveragents.tools.Tool`")
        if found.spec.name != self.name:
            self._fail(f"it calls itself `{found.spec.name}`")
        if NAME.fullmatch(self.name) is None:
            self._fail("a tool cannot have that name")
        if found.spec.run is not None:
            self._fail("it declares a shell command to `run`")
        return found

    def _fail(self, problem: str, cause: BaseException | None = None) -> NoReturn:
        raise ConfigurationError(
            f"The tool `{self.name}` of {self.source} cannot be used: {problem}",
            hint="Update or remove the package",
            tool=self.name,
            source=self.source,
        ) from cause


def find_plugins() -> Mapping[str, Plugin]:
    """Returns what is installed, by name; nothing is imported."""
    # Slow to import, and not needed by a plan with built-in tools only.
    from importlib.metadata import entry_points

    found: dict[str, dict[tuple[str, str], EntryPoint]] = {}
    for entry in entry_points(group=GROUP):
        # A package that is on the path twice is still one.
        found.setdefault(entry.name, {}).setdefault((entry.value, _package(entry)), entry)
    return {name: Plugin(name, tuple(found[name].values())) for name in sorted(found)}


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"
