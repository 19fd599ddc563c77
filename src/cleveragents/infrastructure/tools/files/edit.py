"""The tool that replaces a passage of a text file and keeps every other byte."""

from __future__ import annotations

from cleveragents.domain.errors import ExecutionError
from cleveragents.domain.tools.tool import (
    ParameterType,
    ToolInvocation,
    ToolParameter,
    ToolResult,
    ToolSpec,
)
from cleveragents.domain.wording import counted
from cleveragents.infrastructure.tools.files.path_parameter import PATH
from cleveragents.infrastructure.tools.files.sandbox_files import (
    encode_utf8,
    open_parent,
    read_whole,
    replace_file,
    tool_errors,
)

EDIT_FILE = ToolSpec(
    name="edit-file",
    description="Replace a passage of a text file that occurs exactly once, or `count` times",
    parameters={
        "path": PATH,
        "old": ToolParameter(
            type=ParameterType.STRING, description="The exact text to replace", pattern=r"(?s).+"
        ),
        "new": ToolParameter(type=ParameterType.STRING, description="The text to put there"),
        "count": ToolParameter(
            type=ParameterType.INTEGER,
            description="How often the old text must occur; each is replaced. Default 1",
            required=False,
            minimum=1,
        ),
        "all": ToolParameter(
            type=ParameterType.BOOLEAN,
            description="Replace the old text wherever it occurs, at least once",
            required=False,
        ),
    },
    writes=True,
    write_scope="file",
)


def edit_file(call: ToolInvocation) -> ToolResult:
    """Replaces the passage and keeps the permission bits of the file.

    If every line of the file ends in CRLF, plain line ends in the passage mean CRLF too.

    Raises:
        ExecutionError: the passage does not occur as often as expected, the file is not
            UTF-8 text, or the path leads outside.
    """
    path = str(call.input["path"])
    with tool_errors(path), open_parent(call.directory, path) as (parent, name):
        file = read_whole(path, parent, name)
        text = _decode_utf8(path, file.content)
        changed, count = _replace(call, path, text)
        replace_file(parent, name, encode_utf8(changed), file.mode)
    return ToolResult(output=f"Replaced {counted(count, 'passage')} in {path}")


def _replace(call: ToolInvocation, path: str, text: str) -> tuple[str, int]:
    old, new = _convert_line_ends(text, str(call.input["old"]), str(call.input["new"]))
    if old == new:
        raise ExecutionError("`old` and `new` are the same: there is nothing to change", path=path)
    if not call.input.get("all", False):
        _require_count(call, path, _occurrences(text, old))
    elif "count" in call.input:
        raise ExecutionError("`count` and `all` cannot be used together", path=path)
    elif old not in text:
        _require_count(call, path, 0)
    count = text.count(old)
    return text.replace(old, new), count


def _require_count(call: ToolInvocation, path: str, found: int) -> None:
    wanted = int(str(call.input.get("count", 1)))
    if found == wanted:
        return
    if found == 0:
        raise ExecutionError(
            f"`{path}` does not contain the old text",
            hint="Give the text exactly as it is in the file, with its spaces and line ends",
            path=path,
            found=0,
        )
    raise ExecutionError(
        f"`{path}` contains the old text {counted(found, 'time')}, not {counted(wanted, 'time')}",
        hint="Give more of the text around it, or `count`, or `all: true`",
        path=path,
        found=found,
    )


def _occurrences(text: str, old: str) -> int:
    """Counts overlapping occurrences too, because it is not clear which of them is meant."""
    count, place = 0, text.find(old)
    while place >= 0:
        count, place = count + 1, text.find(old, place + 1)
    return count


def _convert_line_ends(text: str, old: str, new: str) -> tuple[str, str]:
    """Converts plain line ends to CRLF if every line of the file ends in CRLF."""
    if "\r\n" in text and text.count("\r\n") == text.count("\n") and "\r" not in old + new:
        return old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    return old, new


def _decode_utf8(path: str, content: bytes) -> str:
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise ExecutionError(
            f"`{path}` is not UTF-8 text: byte {error.start} cannot be read", path=path
        ) from error
    if "\0" in text:
        raise ExecutionError(f"`{path}` is a binary file", path=path)
    return text
