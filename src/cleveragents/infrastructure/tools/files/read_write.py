"""The tools that read, write and delete one file of the sandbox."""

from __future__ import annotations

import codecs
import os
import shutil
import stat
from contextlib import suppress

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
    open_for_reading,
    open_parent,
    replace_file,
    require_regular_file,
    tool_errors,
)
from cleveragents.infrastructure.tools.process.output import BoundedOutput

_CHUNK_BYTES = 64 * 1024

WRITE_FILE = ToolSpec(
    name="write-file",
    description="Write text to a file, as UTF-8, creating it and its directories as needed",
    parameters={
        "path": PATH,
        "content": ToolParameter(type=ParameterType.STRING, description="The whole new content"),
        "mode": ToolParameter(
            type=ParameterType.STRING,
            description='Permission bits in octal, like "0755"; an existing file keeps its own',
            required=False,
            pattern=r"[0-7]{3,4}",
        ),
    },
    writes=True,
    write_scope="file",
    idempotent=True,
)
READ_FILE = ToolSpec(
    name="read-file",
    description="Return the text of a file; of a long file, the beginning and the end",
    parameters={"path": PATH},
    read_only=True,
    idempotent=True,
)
DELETE_FILE = ToolSpec(
    name="delete-file",
    description="Delete a file, or a symlink but never its target",
    parameters={
        "path": PATH,
        "recursive": ToolParameter(
            type=ParameterType.BOOLEAN,
            description="Delete a directory with everything in it",
            required=False,
        ),
    },
    writes=True,
    write_scope="file",
)


def write_file(call: ToolInvocation) -> ToolResult:
    """Replaces the file by a new one with the same name.

    The new file gets the permission bits of the old one. Other hard links to the old file
    keep its content. If the process is killed, the old file and a temporary file remain.

    Raises:
        ExecutionError: the path leads outside, or does not name a file.
    """
    path, content = str(call.input["path"]), encode_utf8(str(call.input["content"]))
    if path.endswith("/"):
        raise ExecutionError(f"`{path}` names a directory, not a file", path=path)
    asked = call.input.get("mode")
    mode = None if asked is None else int(str(asked), 8)
    with tool_errors(path), open_parent(call.directory, path, create=True) as (parent, name):
        with suppress(FileNotFoundError):
            existing = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
            require_regular_file(path, existing)
            mode = stat.S_IMODE(existing) if mode is None else mode
        replace_file(parent, name, content, mode)
    return ToolResult(output=f"Wrote {counted(len(content), 'byte')} to {path}")


def read_file(call: ToolInvocation) -> ToolResult:
    """Returns the text. If the file is not UTF-8, returns a description of it.

    Raises:
        ExecutionError: the path leads outside, or does not name a file.
    """
    path = str(call.input["path"])
    with tool_errors(path), open_for_reading(call.directory, path) as descriptor:
        status = os.fstat(descriptor)
        require_regular_file(path, status.st_mode)
        output, decoder = BoundedOutput(), codecs.getincrementaldecoder("utf-8")()
        try:
            while chunk := os.read(descriptor, _CHUNK_BYTES):
                if "\0" in decoder.decode(chunk):
                    return _binary(path, status.st_size)
                output.feed(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return _binary(path, status.st_size)
        return output.result()


def delete_file(call: ToolInvocation) -> ToolResult:
    """Deletes a file of any kind, and a directory only with `recursive`.

    Raises:
        ExecutionError: it does not exist, it is a directory, or the path leads outside.
    """
    path = str(call.input["path"])
    with tool_errors(path), open_parent(call.directory, path) as (parent, name):
        if not stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=parent)
        elif call.input.get("recursive", False):
            shutil.rmtree(name, dir_fd=parent)
        else:
            raise ExecutionError(
                f"`{path}` is a directory",
                hint="Add `recursive: true` to delete it with everything in it",
                path=path,
            )
    return ToolResult(output=f"Deleted {path}")


def _binary(path: str, size: int) -> ToolResult:
    return ToolResult(output=f"{path} is a binary file of {size} bytes")
