"""Finds the tools that installed packages offer as entry points.

The search happens only if a plan names a tool that is not built in, or if the user lists
the tools. A package is imported only if one of its tools is needed.
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
    """The entry points with one name. More than one means that packages are in conflict."""

    name: str
    entries: tuple[EntryPoint, ...]

    @property
    def source(self) -> str:
        """The packages that offer it, with their versions."""
        return " and ".join(sorted({_package(entry) for entry in self.entries}))

    @property
    def reference(self) -> str:
        """Where another process finds the tool: `module:name`."""
        return f"{self.entries[0].module}:{self.entries[0].attr}"

    def load(self) -> Tool:
        """Imports the tool.

        Raises:
            ConfigurationError: it cannot be imported, or it is not a tool with that name.
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
            self._fail(f"its own name is `{found.spec.name}`")
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
    """Returns the installed tools by name, without importing them."""
    # Slow to import, and not needed by a plan with built-in tools only.
    from importlib.metadata import entry_points

    found: dict[str, dict[tuple[str, str], EntryPoint]] = {}
    for entry in entry_points(group=GROUP):
        # A package may be on the import path twice. It still counts as one.
        found.setdefault(entry.name, {}).setdefault((entry.value, _package(entry)), entry)
    return {name: Plugin(name, tuple(found[name].values())) for name in sorted(found)}


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"
