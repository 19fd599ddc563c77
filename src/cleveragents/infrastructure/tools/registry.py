"""Finds and runs any tool: built in, registered by a program, or from a package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from cleveragents.application.ports.system import EventSink, Interruption
from cleveragents.application.ports.tools import ToolBackend
from cleveragents.domain.errors import ConfigurationError, NotFoundError
from cleveragents.domain.names import NAME, nearest
from cleveragents.domain.tools.tool import KnownTool, ToolInvocation, ToolResult, ToolSpec
from cleveragents.infrastructure.tools.backend import BUILTIN_SPECS, BuiltinTools
from cleveragents.infrastructure.tools.plugin_process import run_plugin
from cleveragents.infrastructure.tools.plugins import Plugin, find_plugins
from cleveragents.infrastructure.tools.process.python_function import reference_to, run_function
from cleveragents.tools import Tool

BUILT_IN = "built-in"
REGISTERED = "registered"


class Tools(ToolBackend):
    """Every tool that a plan can call. No other tool can replace a built-in one."""

    def __init__(
        self, environment: Mapping[str, str], interruption: Interruption, events: EventSink
    ) -> None:
        """Takes the environment that tools inherit, except git's variables."""
        self._environment = dict(environment)
        self._interruption = interruption
        self._builtin = BuiltinTools(environment, interruption, events)
        self._registered: dict[str, Tool] = {}
        self._loaded: dict[str, Tool] = {}
        self._specs = _Specs(self)

    def register(self, tool: Tool) -> None:
        """Adds a tool for as long as this program runs.

        Raises:
            ConfigurationError: a built-in tool has that name, no tool can have it, or
                another process could not import the tool's function.
        """
        name = tool.spec.name
        if name in BUILTIN_SPECS:
            raise ConfigurationError(f"`{name}` is the name of a built-in tool", tool=name)
        if NAME.fullmatch(name) is None or tool.spec.run is not None:
            raise ConfigurationError(f"`{name}` cannot be registered as a tool", tool=name)
        if reference_to(tool.run) is None:
            raise ConfigurationError(
                f"`{name}` cannot be registered: the process that runs it cannot import its "
                "function",
                hint="Define the function at the top of a module, not of the program itself",
                tool=name,
            )
        self._registered[name] = tool

    def specs(self) -> Mapping[str, ToolSpec]:
        """Returns the tools by name. A tool of a package is imported when it is looked up."""
        return self._specs

    def has(self, name: object) -> bool:
        """Returns whether there is such a tool, without importing anything."""
        return name in BUILTIN_SPECS or name in self.names()

    def names(self) -> list[str]:
        return [*BUILTIN_SPECS, *self._registered, *self._plugins]

    def load(self, name: str) -> Tool:
        """Returns a tool that is not built in; imports one of a package.

        Raises KeyError for an unknown name, and ConfigurationError for a broken package.
        """
        if name in self._registered:
            return self._registered[name]
        if name not in self._loaded:
            self._loaded[name] = self._plugins[name].load()
        return self._loaded[name]

    def known(self, name: str) -> KnownTool:
        """Raises NotFoundError with the nearest name, and ConfigurationError as `load` does."""
        if not self.has(name):
            raise NotFoundError(
                f"There is no tool `{name}`", hint=nearest(name, self.names()), tool=name
            )
        return KnownTool(spec=self._specs[name], source=self._source(name))

    def all(self) -> tuple[list[KnownTool], list[str]]:
        """Returns every usable tool, and a sentence about each tool that cannot be used."""
        tools: list[KnownTool] = []
        problems = [
            f"The tool `{plugin.name}` of {plugin.source} is left out: "
            "no package can replace a built-in tool"
            for plugin in self._found.values()
            if plugin.name in BUILTIN_SPECS
        ]
        for name in self.names():
            try:
                tools.append(self.known(name))
            except ConfigurationError as error:
                problems.append(error.message)
        return tools, problems

    def run(self, call: ToolInvocation) -> ToolResult:
        name = call.spec.name
        if call.spec.run is not None or name in BUILTIN_SPECS or not self.has(name):
            return self._builtin.run(call)
        argument = {"tool": self._reference(name), "call": call.model_dump()}
        return run_function(run_plugin, argument, call, self._environment, self._interruption)

    def end_leftovers(self, plan_id: str) -> int:
        return self._builtin.end_leftovers(plan_id)

    def _reference(self, name: str) -> str | None:
        if name in self._registered:
            return reference_to(self._registered[name].run)
        return self._plugins[name].reference

    def _source(self, name: str) -> str:
        if name in BUILTIN_SPECS:
            return BUILT_IN
        return REGISTERED if name in self._registered else self._plugins[name].source

    @cached_property
    def _found(self) -> Mapping[str, Plugin]:
        return find_plugins()

    @property
    def _plugins(self) -> Mapping[str, Plugin]:
        return {
            name: plugin
            for name, plugin in self._found.items()
            if name not in BUILTIN_SPECS and name not in self._registered
        }


class _Specs(Mapping[str, ToolSpec]):
    """Looks a tool up only when it is asked for, and in packages only if it is not built in."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def __getitem__(self, name: str) -> ToolSpec:
        """Raises KeyError for an unknown name, and ConfigurationError for a broken package."""
        return BUILTIN_SPECS.get(name) or self._tools.load(name).spec

    def __contains__(self, name: object) -> bool:
        return self._tools.has(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools.names())

    def __len__(self) -> int:
        return len(self._tools.names())
