"""An exact copy of what is directly in a directory.

Names are resolved below open directories and no link is ever followed, so that
nothing outside is read. A process that only copies imports this: it does without
everything that takes long to import.
"""

from __future__ import annotations

import errno
import os
import stat

from cleveragents.infrastructure.sandbox.store.file_copy import copy_content, space_needed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening what has just become a named pipe would wait for its writer.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_KINDS = {stat.S_IFIFO: "fifo", stat.S_IFSOCK: "socket"}


class CopyResult:
    """The result of copying one directory."""

    def __init__(self) -> None:
        self.inside: list[str] = []
        """The directories in it, made and still empty; each ends with a slash."""
        self.later: list[tuple[str, int]] = []
        """Directories that could not be filled if they already had their final mode."""
        self.special: dict[str, str] = {}
        self.unreadable: dict[str, int] = {}
        """The number of the error, by path."""
        self.files = 0
        self.all_shared = True
        """Whether every file shares its bytes with its original."""
        self.written_bytes = 0


class DirectoryCopy:
    """Copies directories of one tree, each by itself."""

    def __init__(
        self,
        source: str,
        target: str,
        *,
        can_share: Callable[[int], bool],
        before_each: Callable[[], None] = lambda: None,
        leaving_out: str | None = None,
    ) -> None:
        """Prepares it.

        Args:
            source: The top of what is copied.
            target: The top of the copy.
            can_share: Says of an open file whether the copy may share its bytes.
            before_each: Called before each file; it may raise to end everything.
            leaving_out: A name at the top that is not content.
        """
        self._source = source
        self._target = target
        self._can_share = can_share
        self._before_each = before_each
        self._leaving_out = leaving_out

    def copy(self, relative: str) -> CopyResult:
        """Copies what is directly in a directory, whose copy is there and empty.

        What has gone meanwhile is not copied, what may not be read is noted.

        Args:
            relative: The directory below the top, with a slash at its end; empty for the top.

        Raises:
            FileNotFoundError: the top directory is gone.
            OSError: the copy cannot be written.
        """
        copied = CopyResult()
        try:
            self._copy(relative, copied)
        except FileNotFoundError:
            if not relative:
                raise
        except PermissionError as error:
            copied.unreadable[relative] = error.errno or errno.EACCES
        return copied

    def _copy(self, relative: str, copied: CopyResult) -> None:
        source = os.open(_joined(self._source, relative), _DIRECTORY)
        try:
            target = os.open(_joined(self._target, relative), _DIRECTORY)
            try:
                self._copy_between(source, target, relative, copied)
            finally:
                os.close(target)
        finally:
            os.close(source)

    def _copy_between(self, source: int, target: int, relative: str, copied: CopyResult) -> None:
        with os.scandir(source) as entries:
            for entry in entries:
                if not relative and entry.name == self._leaving_out:
                    continue
                self._before_each()
                if entry.is_dir(follow_symlinks=False):
                    os.mkdir(entry.name, 0o700, dir_fd=target)
                    copied.inside.append(f"{relative}{entry.name}/")
                    continue
                try:
                    self._copy_leaf(entry, source, target, relative, copied)
                except FileNotFoundError:
                    continue
                except PermissionError as error:
                    copied.unreadable[f"{relative}{entry.name}"] = error.errno or errno.EACCES
        mode = stat.S_IMODE(os.fstat(source).st_mode)
        if mode & stat.S_IRWXU == stat.S_IRWXU:
            os.fchmod(target, mode)
        else:
            copied.later.append((relative, mode))

    def _copy_leaf(
        self, entry: os.DirEntry[str], source: int, target: int, relative: str, copied: CopyResult
    ) -> None:
        copied.files += 1
        if entry.is_symlink():
            os.symlink(os.readlink(entry.name, dir_fd=source), entry.name, dir_fd=target)
        elif entry.is_file(follow_symlinks=False):
            self._copy_file(entry.name, source, target, copied)
        else:
            kind = _KINDS.get(stat.S_IFMT(entry.stat(follow_symlinks=False).st_mode), "device")
            copied.special[f"{relative}{entry.name}"] = kind

    def _copy_file(self, name: str, source: int, target: int, copied: CopyResult) -> None:
        reader = os.open(name, _READ, dir_fd=source)
        try:
            status = os.fstat(reader)
            writer = os.open(name, _CREATE, 0o600, dir_fd=target)
            try:
                if status.st_size:
                    self._copy_content(reader, writer, status, copied)
                os.fchmod(writer, stat.S_IMODE(status.st_mode))
                os.utime(writer, ns=(status.st_atime_ns, status.st_mtime_ns))
            finally:
                os.close(writer)
        finally:
            os.close(reader)

    def _copy_content(
        self, reader: int, writer: int, status: os.stat_result, copied: CopyResult
    ) -> None:
        if not copy_content(reader, writer, status, share=self._can_share(reader)):
            copied.all_shared = False
            copied.written_bytes += space_needed(status)


def _joined(top: str, relative: str) -> str:
    return f"{top}/{relative.rstrip('/')}" if relative else top
