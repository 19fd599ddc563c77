"""The tool that looks for a regular expression in the files of the sandbox.

It runs in a process of its own: no pattern can be told from one that takes for ever.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from itertools import islice
from typing import IO

from cleveragents.domain.errors import ExecutionError
from cleveragents.domain.tool import (
    ParameterType,
    ToolInvocation,
    ToolParameter,
    ToolResult,
    ToolSpec,
)
from cleveragents.infrastructure.tools.files.containment import open_to_look_through
from cleveragents.infrastructure.tools.files.globs import glob_matches
from cleveragents.infrastructure.tools.files.list import below
from cleveragents.infrastructure.tools.files.quoting import shown
from cleveragents.infrastructure.tools.files.walk import walk
from cleveragents.infrastructure.tools.files.whole_file import PATH, our_errors
from cleveragents.infrastructure.tools.process.output import BoundedOutput

LIMIT = 200
MAX_LIMIT = 10_000
_SECONDS = 60
_SHOWN_CHARACTERS = 500
_LOOK_BYTES = 8192
_LINE_BYTES = 1024 * 1024
"""A longer line is searched in pieces."""

SEARCH_FILES = ToolSpec(
    name="search-files",
    description="Find the lines of text files that a regular expression matches",
    parameters={
        "pattern": ToolParameter(
            type=ParameterType.STRING,
            description="A regular expression of Python, for one line",
            pattern=r"(?s).+",
        ),
        "path": PATH.model_copy(
            update={
                "description": "A file or a directory; default the sandbox itself",
                "required": False,
            }
        ),
        "glob": ToolParameter(
            type=ParameterType.STRING,
            description="Only files that fit, like `*.py` or `src/**/test_*.py`",
            required=False,
            pattern=r"[^\0]+",
        ),
        "ignore_case": ToolParameter(
            type=ParameterType.BOOLEAN,
            description="Do not tell upper case from lower case",
            required=False,
        ),
        "limit": ToolParameter(
            type=ParameterType.INTEGER,
            description=f"How many lines are given at most; default {LIMIT}",
            required=False,
            minimum=1,
            maximum=MAX_LIMIT,
        ),
    },
    read_only=True,
    idempotent=True,
    timeout=_SECONDS,
)


def search_files(call: ToolInvocation) -> ToolResult:
    """Gives `path:line: text` for each line that matches, in the order of paths.

    Binary files, symlinks and `.git` are not searched.

    Raises:
        ExecutionError: the pattern is wrong, or the path leads outside.
    """
    path = str(call.input.get("path", "."))
    limit = int(str(call.input.get("limit", LIMIT)))
    search = _Search(call)
    with our_errors(path), open_to_look_through(call.directory, path) as top:
        lines = list(islice(search.lines(top, path), limit + 1))
    output = BoundedOutput()
    for line in lines[:limit]:
        output.feed(f"{line}\n".encode(errors="replace"))
    if len(lines) > limit:
        output.add_note(f"there are more than {limit}: narrow the search, or raise `limit`")
    if not lines:
        output.add_note("no line matches")
    if search.binary:
        output.add_note(f"binary files not searched: {search.binary}")
    result = output.result()
    return ToolResult(output=result.output, truncated=result.truncated or len(lines) > limit)


class _Search:
    """One pattern, on its way through files."""

    def __init__(self, call: ToolInvocation) -> None:
        self._call = call
        self.binary = 0
        flags = re.IGNORECASE if call.input.get("ignore_case", False) else 0
        try:
            self._pattern = re.compile(str(call.input["pattern"]), flags)
        except (re.error, OverflowError, RecursionError) as error:
            raise ExecutionError(
                f"The pattern is no regular expression: {error}",
                hint="Put a backslash before characters that stand for themselves",
            ) from error

    def lines(self, top: int, path: str) -> Iterator[str]:
        mode = os.fstat(top).st_mode
        if stat.S_ISREG(mode):
            with os.fdopen(os.dup(top), "rb") as file:
                yield from self._in_file(file, below(self._call.directory, path).rstrip("/"))
        elif stat.S_ISDIR(mode):
            yield from self._in_directory(top, path)
        else:
            raise ExecutionError(f"`{path}` is a special file", path=path)

    def _in_directory(self, top: int, path: str) -> Iterator[str]:
        glob = self._call.input.get("glob")
        prefix = below(self._call.directory, path)
        for entry in walk(top, recursive=True):
            if entry.is_file and (glob is None or glob_matches(str(glob), entry.path)):
                with our_errors(prefix + entry.path), os.fdopen(entry.open_file(), "rb") as file:
                    yield from self._in_file(file, prefix + entry.path)

    def _in_file(self, file: IO[bytes], path: str) -> Iterator[str]:
        if b"\0" in file.read(_LOOK_BYTES):
            self.binary += 1
            return
        file.seek(0)
        number, is_new = 0, True
        while piece := file.readline(_LINE_BYTES):
            number += is_new
            is_new = piece.endswith(b"\n")
            line = piece.rstrip(b"\r\n").decode(errors="replace")
            if self._pattern.search(line):
                yield f"{shown(path)}:{number}: {_cut(line)}"


def _cut(line: str) -> str:
    """Returns a line that a terminal and a table can take."""
    text = "".join(
        character if character.isprintable() or character == "\t" else "\N{REPLACEMENT CHARACTER}"
        for character in line[:_SHOWN_CHARACTERS]
    )
    return text + "…" if len(line) > _SHOWN_CHARACTERS else text
