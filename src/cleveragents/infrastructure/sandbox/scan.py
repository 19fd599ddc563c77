"""Looking at a sandbox: which files it holds, reading only those that may have changed.

A file whose signature (times, size, inode, mode) is what it was when it was last
read is not read again, unless it was so fresh then that a later write could have
left the same signature: such entries are racy and are read again next time.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from cleveragents.domain.errors import SnapshotError
from cleveragents.infrastructure.sandbox.manifest import Entry, all_ancestors
from cleveragents.infrastructure.sandbox.objects import (
    Kind,
    NewObject,
    ObjectChangedError,
    hash_file,
    read_file,
)

_TEMPORARY = re.compile(r"\.cleveragents-restore-[0-9a-f]{16}")
_RACY_NANOSECONDS = 20_000_000
_COARSE_RACY_NANOSECONDS = 2_500_000_000
_READ_ATTEMPTS = 3
# Small files are kept from the moment they are read, so that a later write cannot spoil them.
_SMALL = 1 << 20
_KEPT_ALTOGETHER = 16 << 20

Signature = tuple[int, int, int, int, int]


@dataclass(frozen=True)
class Known:
    """A file as it was last read."""

    signature: Signature
    racy: bool
    object_id: str


@dataclass
class Scan:
    """What one look at a sandbox found."""

    files: dict[str, Entry] = field(default_factory=dict[str, Entry])
    directories: dict[str, int] = field(default_factory=dict[str, int])
    top_mode: int = 0
    not_captured: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    ignored: list[str] = field(default_factory=list[str])
    leftovers: list[str] = field(default_factory=list[str])
    """Temporary files of a restore that was killed."""
    known: dict[str, Known] = field(default_factory=dict[str, Known])
    read: dict[str, NewObject] = field(default_factory=dict[str, NewObject])
    """What was read this time, by object id: it may have to be stored."""


def signature_of(status: os.stat_result) -> Signature:
    return (
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_size,
        status.st_ino,
        status.st_mode,
    )


def temporary_name() -> str:
    """Returns a name for a file that is about to be renamed."""
    return f".cleveragents-restore-{secrets.token_hex(8)}"


class Scanner:
    """Walks one sandbox once.

    Args:
        root: Top of the sandbox.
        ignored: Paths to leave out; directories end with `/`.
        captured_before: Paths that some snapshot of this sandbox holds: they are
            looked at even if they are ignored by now, so that nothing a rollback
            could overwrite is ever missing from the snapshot before it.
        known: Files as they were last read.
        restless: Paths not to try any more: they change faster than they are read.
        now: The time, as the sandbox's file system tells it.
    """

    def __init__(
        self,
        root: str,
        *,
        ignored: Set[str],
        captured_before: Set[str],
        known: Mapping[str, Known],
        restless: Set[str],
        now: int,
    ) -> None:
        self._root = root
        self._ignored = ignored
        self._captured_before = captured_before
        self._directories_before = all_ancestors(captured_before)
        self._known = known
        self._restless = restless
        self._found = Scan()
        self._now = now
        self._room = _KEPT_ALTOGETHER

    def run(self) -> Scan:
        """Looks at everything.

        Raises:
            FileNotFoundError: the sandbox itself is gone.
            SnapshotError: it may not be read.
        """
        try:
            self._found.top_mode = stat.S_IMODE(os.lstat(self._root).st_mode)
            waiting = self._look_into("", only_captured_before=False)
        except PermissionError as error:
            raise SnapshotError(
                f"The sandbox cannot be read: {error}", hint="Give yourself permission to read it"
            ) from error
        while waiting:
            directory, only_captured_before = waiting.pop()
            try:
                waiting += self._look_into(directory, only_captured_before=only_captured_before)
            except FileNotFoundError:
                continue
            except OSError as error:
                self._found.not_captured.append((f"{directory}/", _reason(error)))
        return self._found

    def _look_into(self, directory: str, *, only_captured_before: bool) -> list[tuple[str, bool]]:
        full = f"{self._root}/{directory}" if directory else self._root
        with os.scandir(full) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
        inside: list[tuple[str, bool]] = []
        for entry in listed:
            path = f"{directory}/{entry.name}" if directory else entry.name
            if entry.name == ".git":
                self._note_git(path)
            elif entry.is_dir(follow_symlinks=False):
                inside += self._directory(path, entry, only_captured_before=only_captured_before)
            elif _TEMPORARY.fullmatch(entry.name):
                self._found.leftovers.append(path)
            else:
                self._leaf(path, entry, only_captured_before=only_captured_before)
        return inside

    def _note_git(self, path: str) -> None:
        if "/" in path:
            self._found.not_captured.append((path, "data of a nested repository"))

    def _directory(
        self, path: str, entry: os.DirEntry[str], *, only_captured_before: bool
    ) -> list[tuple[str, bool]]:
        skip = only_captured_before or f"{path}/" in self._ignored
        if skip and path not in self._directories_before and path not in self._captured_before:
            self._found.ignored.append(f"{path}/")
            return []
        try:
            self._found.directories[path] = stat.S_IMODE(entry.stat(follow_symlinks=False).st_mode)
        except FileNotFoundError:
            return []
        except OSError as error:
            self._found.not_captured.append((f"{path}/", _reason(error)))
            return []
        return [(path, skip)]

    def _leaf(self, path: str, entry: os.DirEntry[str], *, only_captured_before: bool) -> None:
        if path not in self._captured_before and (only_captured_before or path in self._ignored):
            self._found.ignored.append(path)
            return
        for _ in range(0 if path in self._restless else _READ_ATTEMPTS):
            try:
                return self._capture(path, entry)
            except FileNotFoundError:
                return None
            except ObjectChangedError:
                continue
            except OSError as error:
                self._found.not_captured.append((path, _reason(error)))
                return None
        self._found.not_captured.append((path, "it kept changing while it was read"))
        return None

    def _capture(self, path: str, entry: os.DirEntry[str]) -> None:
        status = os.lstat(entry.path)
        if stat.S_ISLNK(status.st_mode):
            target = os.fsencode(os.readlink(entry.path))
            blob = NewObject.of(Kind.BLOB, target)
            self._found.read[blob.id] = blob
            self._found.files[path] = Entry(blob.id, stat.S_IFLNK | 0o777)
        elif stat.S_ISREG(status.st_mode):
            self._capture_regular(path, entry.path, status)
        else:
            self._found.not_captured.append((path, f"special file: {_kind(status.st_mode)}"))

    def _capture_regular(self, path: str, full: str, status: os.stat_result) -> None:
        before = self._known.get(path)
        signature = signature_of(status)
        if before is not None and before.signature == signature and not before.racy:
            self._found.known[path] = before
            self._found.files[path] = Entry(before.object_id, status.st_mode)
            return
        descriptor = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            if signature_of(os.fstat(descriptor)) != signature:
                raise ObjectChangedError
            blob = self._read(descriptor, full, status.st_size)
            if signature_of(os.fstat(descriptor)) != signature:
                raise ObjectChangedError
        finally:
            os.close(descriptor)
        self._found.read[blob.id] = blob
        self._found.known[path] = Known(signature, self._is_racy(status), blob.id)
        self._found.files[path] = Entry(blob.id, status.st_mode)

    def _read(self, descriptor: int, full: str, size: int) -> NewObject:
        if size <= min(_SMALL, self._room):
            self._room -= size
            return NewObject.of(Kind.BLOB, read_file(descriptor, size))
        return NewObject(hash_file(descriptor, size), Kind.BLOB, None, full, size)

    def _is_racy(self, status: os.stat_result) -> bool:
        newest = max(status.st_mtime_ns, status.st_ctime_ns)
        coarse = status.st_mtime_ns % 1_000_000_000 == 0 and status.st_ctime_ns % 1_000_000_000 == 0
        slack = _COARSE_RACY_NANOSECONDS if coarse else _RACY_NANOSECONDS
        return newest > self._now - slack


def _reason(error: OSError) -> str:
    return (error.strerror or "it cannot be read").lower()


def _kind(mode: int) -> str:
    kinds = {stat.S_IFIFO: "fifo", stat.S_IFSOCK: "socket", stat.S_IFCHR: "device"}
    return kinds.get(stat.S_IFMT(mode), "device")
