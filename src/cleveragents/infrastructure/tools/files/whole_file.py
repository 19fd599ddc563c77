"""Reads and replaces one file of the sandbox, and turns system errors into tool errors."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from cleveragents.domain.errors import ExecutionError
from cleveragents.infrastructure.tools.files.directories import CREATE, READ

MAX_BYTES = 64 * 1024 * 1024
"""The largest file that a tool reads into memory."""


@dataclass(frozen=True)
class WholeFile:
    """The content and the permission bits of a file."""

    content: bytes
    mode: int


def read_whole(path: str, parent: int, name: str) -> WholeFile:
    """Reads the file `name` of an open directory, never through a symlink.

    Raises:
        ExecutionError: it is not a file, or it is too large.
    """
    require_regular_file(path, os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    with os.fdopen(os.open(name, READ, dir_fd=parent), "rb") as file:
        status = os.fstat(file.fileno())
        require_regular_file(path, status.st_mode)
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ExecutionError(
            f"`{path}` is larger than {MAX_BYTES >> 20} MB",
            hint="Change it with a program of its own in a `shell` step",
            path=path,
        )
    return WholeFile(content, stat.S_IMODE(status.st_mode))


def replace_file(parent: int, name: str, content: bytes, mode: int | None) -> None:
    """Writes a temporary file and renames it. So the target is always old or new, never half.

    Args:
        parent: an open directory.
        name: the file to create or replace in it.
        content: the whole content.
        mode: its permission bits; None means the default of new files.
    """
    temporary = f".cleveragents-{secrets.token_hex(8)}.tmp"
    # A file with its own mode may be secret, so nobody else may read it before it has it.
    creation_mode = 0o666 if mode is None else 0o600
    descriptor = os.open(temporary, CREATE, creation_mode, dir_fd=parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if mode is not None:
                os.fchmod(file.fileno(), mode)
        os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        discard(parent, temporary)
        raise


def encode_utf8(content: str) -> bytes:
    try:
        return content.encode()
    except UnicodeEncodeError as error:
        raise ExecutionError("The content cannot be written as UTF-8") from error


def discard(parent: int, name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=parent)


def require_regular_file(path: str, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    kinds = {stat.S_IFDIR: "a directory", stat.S_IFLNK: "a symlink"}
    kind = kinds.get(stat.S_IFMT(mode), "a special file")
    raise ExecutionError(f"`{path}` is {kind}, not a file", path=path)


@contextmanager
def tool_errors(path: str) -> Generator[None]:
    """Turns errors of the system about a path into an ExecutionError."""
    try:
        yield
    except FileNotFoundError as error:
        raise ExecutionError(
            f"There is no `{path}` in the sandbox",
            hint="Paths are relative to the sandbox",
            path=path,
        ) from error
    except OSError as error:
        raise ExecutionError(f"`{path}`: {error.strerror}", path=path) from error
