"""Runs the built-in tools, and the shell commands that a plan file declares as tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from cleveragents.application.ports.system import EventSink, Interruption
from cleveragents.application.ports.tools import ToolBackend
from cleveragents.domain.errors import ExecutionError
from cleveragents.domain.tools.tool import ToolInvocation, ToolResult, ToolSpec
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
from cleveragents.infrastructure.tools.process.leftover_processes import end_plan
from cleveragents.infrastructure.tools.process.shell import SHELL, run_plan_tool, run_shell
from cleveragents.infrastructure.tools.record_decision import RECORD, record_decision
from cleveragents.infrastructure.tools.spawn_subplan import SPAWN
from cleveragents.infrastructure.tools.sql.tool import SQL, run_sql

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


class BuiltinTools(ToolBackend):
    """Runs tools with the rights of this user.

    The file tools cannot leave the sandbox. Shell commands start in the sandbox and can do
    whatever the user can do. Only what they change in the sandbox can be rolled back.
    """

    def __init__(
        self, environment: Mapping[str, str], interruption: Interruption, events: EventSink
    ) -> None:
        """Takes the environment that shell commands inherit, except git's variables."""
        self._events = events
        self._environment = dict(environment)
        self._interruption = interruption
        self._git = Git(self._environment, NO_REPOSITORY)

    def specs(self) -> Mapping[str, ToolSpec]:
        return BUILTIN_SPECS

    def run(self, call: ToolInvocation) -> ToolResult:
        if call.spec.run is not None:
            return run_plan_tool(
                call, call.spec.run, self._environment, self._interruption, self._events
            )
        if call.spec.name == SHELL.name:
            return run_shell(call, self._environment, self._interruption, self._events)
        if call.spec.name == SEARCH_FILES.name:
            return search_files(call, self._environment, self._interruption)
        if call.spec.name == SQL.name:
            return run_sql(call, self._interruption)
        if call.spec.name == APPLY_PATCH.name:
            return apply_patch(call, self._git)
        if call.spec.name in _RUN:
            return _RUN[call.spec.name](call)
        raise ExecutionError(f"There is no tool `{call.spec.name}`", tool=call.spec.name)

    def end_leftovers(self, plan_id: str) -> int:
        return end_plan(plan_id)
