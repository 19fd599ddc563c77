"""Searches files. This code executes in the process that `search-files` starts.

It imports no record of the domain: loading them would take longer than most searches.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import IO, Any

from cleveragents.domain.errors import ExecutionError
from cleveragents.infrastructure.tools.files.globs import glob_matches
from cleveragents.infrastructure.tools.files.quoting import quote_if_needed
from cleveragents.infrastructure.tools.files.sandbox_files import (
    open_for_search,
    prefix_of_paths,
    tool_errors,
)
from cleveragents.infrastructure.tools.files.walk import walk
from cleveragents.infrastructure.tools.process.output import BoundedOutput

_SHOWN_CHARACTERS = 500
_CHECKED_BYTES = 8192
_LINE_BYTES = 1024 * 1024
"""A longer line is searched in pieces."""


def search(argument: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the output of `search-files`, given the tool's input and the directory.

    Raises:
        ExecutionError: the pattern is wrong, or the path leads outside.
    """
    path, limit = str(argument["path"]), int(argument["limit"])
    search = _Search(argument)
    with tool_errors(path), open_for_search(argument["directory"], path) as top:
        lines = list(islice(search.lines(top, path), limit + 1))
    output = BoundedOutput()
    for line in lines[:limit]:
        output.feed(f"{line}\n".encode(errors="replace"))
    if len(lines) > limit:
        output.add_note(f"there are more than {limit}: narrow the search, or raise `limit`")
    if not lines:
        output.add_note("no line matches")
    if search.binary_files:
        output.add_note(f"binary files not searched: {search.binary_files}")
    text = output.text()
    return {"output": text, "truncated": output.is_truncated or len(lines) > limit}


class _Search:
    """A compiled pattern, and what it was applied to so far."""

    def __init__(self, argument: Mapping[str, Any]) -> None:
        self._directory = str(argument["directory"])
        self._glob = argument.get("glob")
        self.binary_files = 0
        flags = re.IGNORECASE if argument.get("ignore_case", False) else 0
        try:
            self._pattern = re.compile(str(argument["pattern"]), flags)
        except (re.error, OverflowError, RecursionError) as error:
            raise ExecutionError(
                f"The pattern is not a regular expression: {error}",
                hint="Put a backslash before characters that stand for themselves",
            ) from error

    def lines(self, top: int, path: str) -> Iterator[str]:
        mode = os.fstat(top).st_mode
        if stat.S_ISREG(mode):
            with os.fdopen(os.dup(top), "rb") as file:
                yield from self._in_file(file, prefix_of_paths(self._directory, path).rstrip("/"))
        elif stat.S_ISDIR(mode):
            yield from self._in_directory(top, path)
        else:
            raise ExecutionError(f"`{path}` is a special file", path=path)

    def _in_directory(self, top: int, path: str) -> Iterator[str]:
        prefix = prefix_of_paths(self._directory, path)
        for entry in walk(top, recursive=True):
            if entry.is_file and (self._glob is None or glob_matches(str(self._glob), entry.path)):
                with (
                    tool_errors(prefix + entry.path),
                    os.fdopen(entry.open_file(), "rb") as file,
                ):
                    yield from self._in_file(file, prefix + entry.path)

    def _in_file(self, file: IO[bytes], path: str) -> Iterator[str]:
        if b"\0" in file.read(_CHECKED_BYTES):
            self.binary_files += 1
            return
        file.seek(0)
        number, is_new = 0, True
        while piece := file.readline(_LINE_BYTES):
            number += is_new
            is_new = piece.endswith(b"\n")
            line = piece.rstrip(b"\r\n").decode(errors="replace")
            if self._pattern.search(line):
                yield f"{quote_if_needed(path)}:{number}: {_shorten(line)}"


def _shorten(line: str) -> str:
    """Returns a line that is short and printable."""
    text = "".join(
        character if character.isprintable() or character == "\t" else "\N{REPLACEMENT CHARACTER}"
        for character in line[:_SHOWN_CHARACTERS]
    )
    return text + "…" if len(line) > _SHOWN_CHARACTERS else text
