"""Finds and runs tools: built in, of a plan file, registered by a program, or of a package."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType

from cleveragents.application.ports.system import EventSink, Interruption
from cleveragents.application.ports.tools import ToolBackend
from cleveragents.domain.errors import ConfigurationError, ExecutionError, NotFoundError
from cleveragents.domain.names import NAME, nearest
from cleveragents.domain.tools.tool import KnownTool, ToolInvocation, ToolResult, ToolSpec
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.tools.files.edit import EDIT_FILE, edit_file
from cleveragents.infrastructure.tools.files.list import LIST_FILES, list_files
from cleveragents.infrastructure.tools.files.move import MOVE_FILE, move_file
from cleveragents.infrastructure.tools.files.patch import APPLY_PATCH, NO_REPOSITORY, apply_patch
from cleveragents.infrastructure.tools.files.read_write import (
    DELETE_FILE,
    READ_FILE,
    WRITE_FILE,
    delete_file,
    read_file,
    write_file,
)
from cleveragents.infrastructure.tools.files.search import SEARCH_FILES, search_files
from cleveragents.infrastructure.tools.plugin_process import run_plugin
from cleveragents.infrastructure.tools.plugins import Plugin, find_plugins
from cleveragents.infrastructure.tools.process.leftover_processes import end_plan
from cleveragents.infrastructure.tools.process.python_function import reference_to, run_function
from cleveragents.infrastructure.tools.process.shell import SHELL, run_plan_tool, run_shell
from cleveragents.infrastructure.tools.record_decision import RECORD, record_decision
from cleveragents.infrastructure.tools.spawn_subplan import SPAWN
from cleveragents.infrastructure.tools.sql.tool import SQL, run_sql
from cleveragents.tools import Tool

BUILT_IN = "built-in"
REGISTERED = "registered"
_RUN: Mapping[str, Callable[[ToolInvocation], ToolResult]] = MappingProxyType(
    {
        READ_FILE.name: read_file,
        WRITE_FILE.name: write_file,
        EDIT_FILE.name: edit_file,
        MOVE_FILE.name: move_file,
        LIST_FILES.name: list_files,
        DELETE_FILE.name: delete_file,
        RECORD.name: record_decision,
    }
)
BUILTIN_SPECS: Mapping[str, ToolSpec] = MappingProxyType(
    {
        spec.name: spec
        for spec in (
            SHELL,
            READ_FILE,
            LIST_FILES,
            SEARCH_FILES,
            WRITE_FILE,
            EDIT_FILE,
            APPLY_PATCH,
            MOVE_FILE,
            DELETE_FILE,
            SQL,
            RECORD,
            SPAWN,
        )
    }
)
BUILTIN_NAMES = frozenset(BUILTIN_SPECS)


class Tools(ToolBackend):
    """Every tool that a plan can call. No other tool can replace a built-in one.

    Tools run with the rights of this user. The built-in file tools cannot leave the sandbox.
    Shell commands start in the sandbox and can do whatever the user can do. Only what they
    change in the sandbox can be rolled back.
    """

    def __init__(
        self, environment: Mapping[str, str], interruption: Interruption, events: EventSink
    ) -> None:
        """Takes the environment that tools inherit, except git's variables."""
        self._environment = dict(environment)
        self._interruption = interruption
        self._events = events
        self._git = Git(self._environment, NO_REPOSITORY)
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
        if call.spec.run is not None:
            return run_plan_tool(
                call, call.spec.run, self._environment, self._interruption, self._events
            )
        if name in _RUN:
            return _RUN[name](call)
        if name == SHELL.name:
            return run_shell(call, self._environment, self._interruption, self._events)
        if name == SEARCH_FILES.name:
            return search_files(call, self._environment, self._interruption)
        if name == SQL.name:
            return run_sql(call, self._interruption)
        if name == APPLY_PATCH.name:
            return apply_patch(call, self._git)
        if name in BUILTIN_SPECS or not self.has(name):
            raise ExecutionError(f"There is no tool `{name}`", tool=name)
        argument = {"tool": self._reference(name), "call": call.model_dump()}
        return run_function(run_plugin, argument, call, self._environment, self._interruption)

    def end_leftovers(self, plan_id: str) -> int:
        return end_plan(plan_id)

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
