"""The files of a sandbox: opened without ever leaving it, read and replaced whole.

Every path is opened one component at a time, from a descriptor of the sandbox's
directory and without following symlinks. So nothing can be replaced between the check and
the use. To read through a symlink, its target is opened in the same way, and refused if it
leads outside the sandbox. To write, every symlink in the path is refused.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NoReturn

from cleveragents.domain.errors import ExecutionError
from cleveragents.infrastructure.tools.files.directories import CREATE, DIRECTORY, READ

_MAX_SYMLINKS = 200
MAX_BYTES = 64 * 1024 * 1024
"""The largest file that a tool reads into memory."""


def parts_inside(directory: str, path: str, *, or_root: bool = False) -> tuple[str, ...]:
    """Returns the components of a path inside the sandbox, without `.` and `..`.

    A path is relative to the sandbox, or absolute and inside it. With `or_root` it may
    be the sandbox itself, which has no components.

    Raises:
        ExecutionError: the path is empty, names the sandbox itself or leads outside it.
    """
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise ExecutionError(f"`{path!a}` is not a path", path=path) from None
    if "\0" in path:
        raise ExecutionError(f"`{path!a}` is not a path", path=path)
    parts: list[str] = []
    for part in _relative_parts(directory, path):
        if part != "..":
            parts.append(part)
        elif parts:
            parts.pop()
        else:
            refuse_escape(path)
    if not parts and not or_root:
        raise ExecutionError(
            f"`{path}` does not name a file inside the sandbox", hint="Name a file", path=path
        )
    return tuple(parts)


def prefix_of_paths(directory: str, path: str) -> str:
    """Returns the prefix of each path of a walk that began at `path`."""
    return "".join(f"{part}/" for part in parts_inside(directory, path, or_root=True))


def refuse_escape(path: str) -> NoReturn:
    raise ExecutionError(
        f"`{path}` is outside the sandbox",
        hint="Use a path relative to the sandbox, without symlinks that lead outside",
        path=path,
    )


@contextmanager
def open_parent(directory: str, path: str, *, create: bool = False) -> Generator[tuple[int, str]]:
    """Opens the directory that holds the path, for writing.

    Yields:
        The directory's descriptor and the path's last component.

    Raises:
        ExecutionError: the path leads outside, through a symlink or a file, or to `.git`.
    """
    *above, name = parts_inside(directory, path)
    # Only the sandbox's own, but in any spelling: some file systems ignore case.
    if (above or [name])[0].casefold() == ".git":
        raise ExecutionError(
            f"`{path}` belongs to git, and file tools do not write there",
            hint="Use git itself in a `shell` step",
            path=path,
        )
    current = _open_root(directory)
    try:
        for part in above:
            if create:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=current)
            # Relative to the one before, so nothing can be put in between.
            inner = _open_directory(part, current, path)
            os.close(current)
            current = inner
        yield current, name
    finally:
        os.close(current)


@contextmanager
def open_for_reading(directory: str, path: str) -> Generator[int]:
    """Opens a file of any kind. Follows symlinks that stay inside the sandbox.

    Raises:
        ExecutionError: the path leads outside, or through too many symlinks.
    """
    remaining = list(parts_inside(directory, path))
    for _ in range(_MAX_SYMLINKS):
        descriptor = _walk(directory, path, remaining)
        if descriptor is not None:
            break
    else:
        raise ExecutionError(f"`{path}` leads through too many symlinks", path=path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def open_for_search(directory: str, path: str) -> Generator[int]:
    """Opens a file or directory for reading, which may be the sandbox itself.

    Raises:
        ExecutionError: as `open_for_reading` does.
    """
    if parts_inside(directory, path, or_root=True):
        with open_for_reading(directory, path) as descriptor:
            yield descriptor
        return
    descriptor = _open_root(directory)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _walk(directory: str, path: str, parts: list[str]) -> int | None:
    """Opens the last component. At a symlink, puts its target into `parts` and returns None."""
    current = _open_root(directory)
    for index, part in enumerate(parts):
        try:
            # All components before are directories and not symlinks, so `..` removes the last one.
            if part == "..":
                if index == 0:
                    refuse_escape(path)
                del parts[index - 1 : index + 1]
                return None
            inner = os.open(part, READ, dir_fd=current)
        except OSError as error:
            if not _is_link(error):
                raise
            _follow(directory, path, parts, index, os.readlink(part, dir_fd=current))
            return None
        finally:
            os.close(current)
        current = inner
    return current


def _follow(directory: str, path: str, parts: list[str], index: int, target: str) -> None:
    # A relative target starts at the symlink's directory, an absolute one at the sandbox.
    start = 0 if os.path.isabs(target) else index
    try:
        parts[start : index + 1] = _relative_parts(directory, target)
    except ExecutionError:
        refuse_escape(path)


def _relative_parts(directory: str, path: str) -> list[str]:
    """Returns the components below the sandbox; `..` is still among them."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not os.path.isabs(path):
        return parts
    for root in (directory, os.path.realpath(directory)):
        above = [part for part in root.split("/") if part not in ("", ".")]
        if parts[: len(above)] == above:
            return parts[len(above) :]
    refuse_escape(path)


def _open_root(directory: str) -> int:
    try:
        return os.open(directory, DIRECTORY)
    except OSError as error:
        raise ExecutionError(
            f"The sandbox {directory} cannot be opened: {error.strerror}", path=directory
        ) from error


def _open_directory(part: str, parent: int, path: str) -> int:
    try:
        return os.open(part, DIRECTORY, dir_fd=parent)
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP, errno.EMLINK):
            raise
        mode = os.stat(part, dir_fd=parent, follow_symlinks=False).st_mode
        kind = "symlink" if stat.S_ISLNK(mode) else "file"
        raise ExecutionError(
            f"`{path}` leads through `{part}`, which is a {kind}",
            hint="Use a path that contains only directories of the sandbox",
            path=path,
        ) from error


def _is_link(error: OSError) -> bool:
    """`O_NOFOLLOW` met a symlink: Linux and macOS say ELOOP, FreeBSD says EMLINK."""
    return error.errno in (errno.ELOOP, errno.EMLINK)


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
