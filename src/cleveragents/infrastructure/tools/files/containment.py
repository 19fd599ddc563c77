"""Keeps file tools inside their sandbox.

Every path is opened one component at a time, from a descriptor of the sandbox's
directory and without following symlinks. So nothing can be replaced between the check and
the use. To read through a symlink, its target is opened in the same way, and refused if it
leads outside the sandbox. To write, every symlink in the path is refused.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import NoReturn

from cleveragents.domain.errors import ExecutionError
from cleveragents.infrastructure.tools.files.directories import (
    DIRECTORY,
    READ,
    descend,
    open_directory,
)

_MAX_SYMLINKS = 200


def parts_inside(directory: str, path: str) -> tuple[str, ...]:
    """Returns the components of a path inside the sandbox, without `.` and `..`.

    A path is relative to the sandbox, or absolute and inside it.

    Raises:
        ExecutionError: the path is empty, names the sandbox itself or leads outside it.
    """
    parts = normal_parts(directory, path)
    if not parts:
        raise ExecutionError(
            f"`{path}` does not name a file inside the sandbox", hint="Name a file", path=path
        )
    return parts


def normal_parts(directory: str, path: str) -> tuple[str, ...]:
    """Returns the components as `parts_inside` does, and none for the sandbox itself."""
    if "\0" in path or not _is_encodable(path):
        raise ExecutionError(f"`{path!a}` is not a path", path=path)
    parts: list[str] = []
    for part in _relative_parts(directory, path):
        if part == ".." and not parts:
            refuse_escape(path)
        elif part == "..":
            parts.pop()
        else:
            parts.append(part)
    return tuple(parts)


def prefix_of_paths(directory: str, path: str) -> str:
    """Returns what stands before each path of a walk that began at `path`."""
    return "".join(f"{part}/" for part in normal_parts(directory, path))


def refuse_escape(path: str) -> NoReturn:
    raise ExecutionError(
        f"`{path}` is outside the sandbox",
        hint="Use a path relative to the sandbox, without symlinks that lead outside",
        path=path,
    )


def refuse_git(path: str, parts: tuple[str, ...]) -> None:
    """Raises ExecutionError for the sandbox's own `.git`, in any spelling of its case."""
    if parts[0].casefold() == ".git":
        raise ExecutionError(
            f"`{path}` belongs to git, and file tools do not write there",
            hint="Use git itself in a `shell` step",
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
    parts = parts_inside(directory, path)
    refuse_git(path, parts)

    def step(part: str, current: int) -> int:
        if create:
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=current)
        return _open_directory(part, current, path)

    root = _open_root(directory)
    try:
        with descend(root, parts[:-1], step) as parent:
            yield parent, parts[-1]
    finally:
        os.close(root)


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
    if normal_parts(directory, path):
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
    if not os.path.isabs(target):
        parts[index : index + 1] = _components(target)
        return
    try:
        parts[: index + 1] = _relative_parts(directory, target)
    except ExecutionError:
        refuse_escape(path)


def _relative_parts(directory: str, path: str) -> list[str]:
    if not os.path.isabs(path):
        return _components(path)
    for root in (directory, os.path.realpath(directory)):
        above = _components(root)
        if _components(path)[: len(above)] == above:
            return _components(path)[len(above) :]
    refuse_escape(path)


def _components(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _open_root(directory: str) -> int:
    try:
        return os.open(directory, DIRECTORY)
    except OSError as error:
        raise ExecutionError(
            f"The sandbox {directory} cannot be opened: {error.strerror}", path=directory
        ) from error


def _open_directory(part: str, parent: int, path: str) -> int:
    try:
        return open_directory(part, parent)
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP, errno.EMLINK):
            raise
        kind = "symlink" if _is_symlink(part, parent) else "file"
        raise ExecutionError(
            f"`{path}` leads through `{part}`, which is a {kind}",
            hint="Use a path that contains only directories of the sandbox",
            path=path,
        ) from error


def _is_symlink(part: str, parent: int) -> bool:
    return stat.S_ISLNK(os.stat(part, dir_fd=parent, follow_symlinks=False).st_mode)


def _is_link(error: OSError) -> bool:
    """`O_NOFOLLOW` met a symlink: Linux and macOS say ELOOP, FreeBSD says EMLINK."""
    return error.errno in (errno.ELOOP, errno.EMLINK)


def _is_encodable(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True
