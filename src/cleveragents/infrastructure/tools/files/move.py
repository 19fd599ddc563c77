"""The tool that moves a file, a symlink or a directory."""

from __future__ import annotations

import errno
import os
import stat

from msgspec.structs import replace

from cleveragents.domain.errors import ExecutionError
from cleveragents.domain.tools.tool import (
    ParameterType,
    ToolInvocation,
    ToolParameter,
    ToolResult,
    ToolSpec,
)
from cleveragents.infrastructure.tools.files.directories import descend
from cleveragents.infrastructure.tools.files.path_parameter import PATH
from cleveragents.infrastructure.tools.files.sandbox_files import (
    open_parent,
    parts_inside,
    tool_errors,
)

MOVE_FILE = ToolSpec(
    name="move-file",
    description="Move a file, a symlink or a directory to another path of the sandbox",
    parameters={
        "from": PATH,
        "to": replace(PATH, description="The whole new path; missing directories are created"),
        "overwrite": ToolParameter(
            type=ParameterType.BOOLEAN,
            description="Replace a file or symlink at the new path",
            required=False,
        ),
    },
    writes=True,
    write_scope="file",
)


def move_file(call: ToolInvocation) -> ToolResult:
    """Moves the entry itself. A symlink keeps its target unchanged.

    Raises:
        ExecutionError: there is nothing to move, something is in the way, the directory
            would end up inside itself, or a path leads outside.
    """
    source, target = str(call.input["from"]), str(call.input["to"])
    _refuse_inside_itself(call.directory, source, target)
    with (
        tool_errors(source),
        open_parent(call.directory, source) as (source_parent, source_name),
    ):
        status = os.stat(source_name, dir_fd=source_parent, follow_symlinks=False)
        if target.endswith("/") and not stat.S_ISDIR(status.st_mode):
            raise ExecutionError(
                f"`{target}` names a directory", hint="Give the whole new path", path=target
            )
        with (
            tool_errors(target),
            open_parent(call.directory, target, create=True) as (target_parent, target_name),
        ):
            if _needs_rename(call, target_parent, target_name, status):
                _move(source_parent, source_name, target_parent, target_name)
            else:
                os.unlink(source_name, dir_fd=source_parent)
    return ToolResult(output=f"Moved {source} to {target}")


def _refuse_inside_itself(directory: str, source: str, target: str) -> None:
    above, below = parts_inside(directory, source), parts_inside(directory, target)
    if above == below:
        raise ExecutionError(f"`{source}` is already at this path", path=source)
    if below[: len(above)] == above:
        raise ExecutionError(f"`{source}` cannot be moved into itself", path=source)


def _needs_rename(call: ToolInvocation, parent: int, name: str, moved: os.stat_result) -> bool:
    """Returns whether a rename is needed: it has no effect between two names of one file."""
    target = str(call.input["to"])
    try:
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return True
    if not call.input.get("overwrite", False):
        raise ExecutionError(
            f"`{target}` already exists",
            hint="Add `overwrite: true` to replace it",
            path=target,
        )
    if stat.S_ISDIR(status.st_mode):
        raise ExecutionError(
            f"`{target}` is a directory, and is not replaced",
            hint="Delete it first, or give the whole new path",
            path=target,
        )
    return not os.path.samestat(status, moved)


def _move(source_parent: int, source: str, target_parent: int, target: str) -> None:
    try:
        os.rename(source, target, src_dir_fd=source_parent, dst_dir_fd=target_parent)
    except OSError as error:
        # overlayfs does not rename a directory of its lower layer, but it renames its files.
        if error.errno != errno.EXDEV or not _is_directory(source_parent, source):
            raise
        _move_each(source_parent, source, target_parent, target)


def _move_each(source_parent: int, source: str, target_parent: int, target: str) -> None:
    os.mkdir(target, 0o700, dir_fd=target_parent)
    with descend(source_parent, [source]) as old, descend(target_parent, [target]) as new:
        for name in os.listdir(old):
            _move(old, name, new, name)
        os.fchmod(new, stat.S_IMODE(os.fstat(old).st_mode))
    os.rmdir(source, dir_fd=source_parent)


def _is_directory(parent: int, name: str) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
