"""The tool that lists what is in a directory."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from itertools import islice

from msgspec.structs import replace

from cleveragents.domain.errors import ExecutionError
from cleveragents.domain.tools.tool import (
    ParameterType,
    ToolInvocation,
    ToolParameter,
    ToolResult,
    ToolSpec,
)
from cleveragents.infrastructure.tools.files.globs import glob_matches
from cleveragents.infrastructure.tools.files.path_parameter import PATH
from cleveragents.infrastructure.tools.files.quoting import quote_if_needed
from cleveragents.infrastructure.tools.files.sandbox_files import (
    open_for_search,
    prefix_of_paths,
    tool_errors,
)
from cleveragents.infrastructure.tools.files.walk import Entry, walk
from cleveragents.infrastructure.tools.process.output import BoundedOutput

LIMIT = 1000
MAX_LIMIT = 100_000

LIST_FILES = ToolSpec(
    name="list-files",
    description="List what is in a directory, sorted, one path per line",
    parameters={
        "path": replace(
            PATH, description="The directory; default the sandbox itself", required=False
        ),
        "pattern": ToolParameter(
            type=ParameterType.STRING,
            description="Only paths that match, like `*.py` or `src/**/test_*.py`",
            required=False,
            pattern=r"[^\0]+",
        ),
        "recursive": ToolParameter(
            type=ParameterType.BOOLEAN,
            description="Go into directories too; implied by a pattern with `/`",
            required=False,
        ),
        "limit": ToolParameter(
            type=ParameterType.INTEGER,
            description=f"How many are listed at most; default {LIMIT}",
            required=False,
            minimum=1,
            maximum=MAX_LIMIT,
        ),
    },
    read_only=True,
    idempotent=True,
)


def list_files(call: ToolInvocation) -> ToolResult:
    """Lists paths relative to the sandbox, without `.git`. Does not follow symlinks.

    Raises:
        ExecutionError: the path leads outside, or does not name a directory.
    """
    path = str(call.input.get("path", "."))
    limit = int(str(call.input.get("limit", LIMIT)))
    with tool_errors(path), open_for_search(call.directory, path) as top:
        if not stat.S_ISDIR(os.fstat(top).st_mode):
            raise ExecutionError(f"`{path}` is not a directory", path=path)
        lines = list(islice(_lines(call, path, top), limit + 1))
    output = BoundedOutput()
    for line in lines[:limit]:
        output.feed(f"{line}\n".encode())
    if len(lines) > limit:
        output.add_note(
            f"there are more than {limit}: narrow `path` or `pattern`, or raise `limit`"
        )
    if not lines:
        output.add_note("nothing")
    result = output.result()
    return ToolResult(output=result.output, truncated=result.truncated or len(lines) > limit)


def _lines(call: ToolInvocation, path: str, top: int) -> Iterator[str]:
    pattern = call.input.get("pattern")
    recursive = bool(call.input.get("recursive", False)) or "/" in str(pattern)
    prefix = prefix_of_paths(call.directory, path)
    for entry in walk(top, recursive=recursive):
        if pattern is None or glob_matches(str(pattern), entry.path):
            yield quote_if_needed(prefix + entry.path) + _suffix(entry)


def _suffix(entry: Entry) -> str:
    if entry.is_directory:
        return "/"
    return f" -> {quote_if_needed(entry.read_link())}" if entry.is_link else ""
