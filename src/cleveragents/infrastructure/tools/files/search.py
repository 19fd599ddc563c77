"""The tool that finds the lines of files that match a regular expression.

The search runs in a process of its own, because no one can tell from a regular expression
whether it will ever finish.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from cleveragents.application.ports.system import Interruption
from cleveragents.domain.tools.tool import (
    ParameterType,
    ToolInvocation,
    ToolParameter,
    ToolResult,
    ToolSpec,
)
from cleveragents.infrastructure.tools.files.path_parameter import PATH
from cleveragents.infrastructure.tools.files.search_process import search
from cleveragents.infrastructure.tools.process.python_function import run_function

LIMIT = 200
MAX_LIMIT = 10_000
_SECONDS = 60

SEARCH_FILES = ToolSpec(
    name="search-files",
    description="Find the lines of text files that a regular expression matches",
    parameters={
        "pattern": ToolParameter(
            type=ParameterType.STRING,
            description="A Python regular expression, matched against each line",
            pattern=r"(?s).+",
        ),
        "path": replace(
            PATH, description="A file or a directory; default the sandbox itself", required=False
        ),
        "glob": ToolParameter(
            type=ParameterType.STRING,
            description="Only files that match, like `*.py` or `src/**/test_*.py`",
            required=False,
            pattern=r"[^\0]+",
        ),
        "ignore_case": ToolParameter(
            type=ParameterType.BOOLEAN,
            description="Ignore the difference between upper and lower case",
            required=False,
        ),
        "limit": ToolParameter(
            type=ParameterType.INTEGER,
            description=f"How many lines are returned at most; default {LIMIT}",
            required=False,
            minimum=1,
            maximum=MAX_LIMIT,
        ),
    },
    read_only=True,
    idempotent=True,
    timeout=_SECONDS,
)


def search_files(
    call: ToolInvocation, environment: Mapping[str, str], interruption: Interruption
) -> ToolResult:
    """Returns `path:line: text` for each line that matches, sorted by path.

    Binary files, symlinks and `.git` are not searched.

    Raises:
        ExecutionError: the pattern is wrong, the path leads outside, or the time is up.
        InterruptedByUserError: the user wants to stop.
    """
    argument = {"directory": call.directory, "path": ".", "limit": LIMIT, **call.input}
    return run_function(search, argument, call, environment, interruption)
