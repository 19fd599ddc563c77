"""git's object format, as far as snapshots need it: ids, names in trees, packs of new objects.

git refuses trees with an entry that some file system takes for `.git`: that
would hide a repository inside a repository. Sandboxes do hold such entries, the
data of nested repositories above all, so they are stored under an escaped name.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import struct
import zlib
from collections.abc import Collection, Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from cleveragents.infrastructure.files import write_durably

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
GITLINK = "160000"
_CHUNK = 1 << 20
_FASTEST = 1
_KEPT = b"cleveragents: until its ref is written\n"
ESCAPED = "%escaped-"
_SUSPICIOUS = re.compile(r"(?i)[.]\W*g|git~|\\|%escaped-|[^\x00-\x7f]")
_WINDOWS_GIT = re.compile(r"(?i)(\.git|git~1)[. ]*($|[\\:])")
_IN_QUOTES = {code: f"\\{code:03o}" for code in (*range(0x20), 0x7F)} | {
    ord(character): f"\\{letter}" for character, letter in zip('"\\\n\t\r', '"\\ntr', strict=True)
}
# Characters that HFS+ leaves out when it compares names.
_INVISIBLE = dict.fromkeys(
    (*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF)
)


class ObjectChangedError(Exception):
    """A file was written to while it was being stored; look again."""

    def __init__(self, path: str = "") -> None:
        super().__init__(path)
        self.path = path


class ObjectKind(IntEnum):
    """Object types, with the number a pack gives them."""

    COMMIT = 1
    TREE = 2
    BLOB = 3


def hash_file(descriptor: int, size: int) -> str:
    """Returns the id a regular file would have as a blob.

    Raises:
        ObjectChangedError: it does not have `size` bytes.
    """
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    left = size
    while chunk := os.read(descriptor, _CHUNK):
        digest.update(chunk)
        left -= len(chunk)
    if left:
        raise ObjectChangedError
    return digest.hexdigest()


@dataclass(frozen=True)
class NewObject:
    """An object to store: its bytes, or the file that has them."""

    id: str
    kind: ObjectKind
    data: bytes | None = None
    path: str | None = None
    size: int = 0

    @staticmethod
    def of(kind: ObjectKind, data: bytes) -> NewObject:
        """Returns an object with its id, which is the digest of its kind, size and bytes."""
        head = b"%s %d\0" % (kind.name.lower().encode(), len(data))
        digest = hashlib.sha1(head, usedforsecurity=False)
        digest.update(data)
        return NewObject(digest.hexdigest(), kind, data, None, len(data))


@contextmanager
def stored_pack(objects: Path, new: Collection[NewObject]) -> Generator[int]:
    """Writes objects as one pack and its index, durably; yields their bytes on disk.

    Nothing prunes the pack while the block runs, which writes the ref that leads to the objects.

    Raises:
        ObjectChangedError: a file no longer has the bytes its id was made of.
    """
    if not new:
        yield 0
        return
    packs = objects / "pack"
    draft = os.path.join(packs, f"tmp_pack_cleveragents_{os.getpid()}_{secrets.token_hex(4)}")
    try:
        entries, checksum, size = _write_pack(draft, new)
        name = f"{packs}/pack-{checksum.hex()}"
        # Order: the keep file guards the pack from a prune, and git sees the pack with its index.
        keep = Path(f"{name}.keep")
        pattern = objects / "info" / "cleveragents-keep"
        try:
            # One more name of a file that stays: making a file costs far more.
            os.link(pattern, keep)
        except FileExistsError:
            pass
        except OSError:  # The first time, or where there are no links.
            keep.write_bytes(_KEPT)
            with suppress(OSError):
                os.link(keep, pattern)
        os.replace(draft, f"{name}.pack")
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(draft)
        raise
    index = _index_bytes(entries, checksum)
    write_durably(Path(f"{name}.idx"), index, mode=0o444)
    try:
        yield size + len(index)
    finally:
        keep.unlink(missing_ok=True)


def _write_pack(
    draft: str, new: Collection[NewObject]
) -> tuple[list[tuple[bytes, int, int]], bytes, int]:
    whole = hashlib.sha1(usedforsecurity=False)
    entries: list[tuple[bytes, int, int]] = []
    offset = 0
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
    with open(descriptor, "wb") as stream:
        header = b"PACK" + struct.pack(">II", 2, len(new))
        whole.update(header)
        offset += stream.write(header)
        for item in new:
            start, checksum = offset, 0
            for part in _packed(item):
                checksum = zlib.crc32(part, checksum)
                whole.update(part)
                offset += stream.write(part)
            entries.append((bytes.fromhex(item.id), checksum, start))
        stream.write(whole.digest())
        stream.flush()
        os.fsync(stream.fileno())
    return entries, whole.digest(), offset + 20


def _packed(item: NewObject) -> Iterable[bytes]:
    """Yields an object as a pack has it: kind and size, then its bytes, compressed."""
    first, size = (item.kind << 4) | (item.size & 15), item.size >> 4
    header = bytearray()
    while size:
        header.append(first | 0x80)
        first, size = size & 0x7F, size >> 7
    header.append(first)
    yield bytes(header)
    squeeze = zlib.compressobj(_FASTEST)
    # The file may have been written to since its id was made: the id is made once more.
    digest = hashlib.sha1(
        b"%s %d\0" % (item.kind.name.lower().encode(), item.size), usedforsecurity=False
    )
    if item.path is None:
        digest.update(item.data or b"")
        yield squeeze.compress(item.data or b"")
    else:
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
            descriptor = os.open(item.path, flags)
        except OSError as error:
            raise ObjectChangedError(item.path) from error
        try:
            while chunk := os.read(descriptor, _CHUNK):
                digest.update(chunk)
                yield squeeze.compress(chunk)
        finally:
            os.close(descriptor)
    yield squeeze.flush()
    if digest.hexdigest() != item.id:
        raise ObjectChangedError(item.path or "")


def _index_bytes(entries: list[tuple[bytes, int, int]], checksum: bytes) -> bytes:
    """Returns a version 2 index; offsets beyond 2 GiB go into its table of long ones."""
    ordered = sorted(entries)
    counts = [0] * 256
    for name, _, _ in ordered:
        counts[name[0]] += 1
    for position in range(1, 256):
        counts[position] += counts[position - 1]
    long_offsets: list[int] = []
    offsets: list[int] = []
    for _, _, offset in ordered:
        if offset < 1 << 31:
            offsets.append(offset)
        else:
            offsets.append((1 << 31) | len(long_offsets))
            long_offsets.append(offset)
    body = b"".join(
        (
            b"\377tOc\0\0\0\2",
            struct.pack(">256I", *counts),
            *(name for name, _, _ in ordered),
            *(struct.pack(">I", crc) for _, crc, _ in ordered),
            *(struct.pack(">I", offset) for offset in offsets),
            *(struct.pack(">Q", offset) for offset in long_offsets),
            checksum,
        )
    )
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def escaped(name: str) -> str:
    """Returns the name as a tree may have it; nearly always the name itself."""
    if not _SUSPICIOUS.search(name) or not _is_refused(name):
        return name
    return ESCAPED + name.replace("%", "%25").replace("\\", "%5c")


def unescaped(name: str) -> str:
    """Returns the name that was escaped."""
    if not name.startswith(ESCAPED):
        return name
    return name.removeprefix(ESCAPED).replace("%5c", "\\").replace("%25", "%")


def shown(path: str) -> str:
    """Returns a path of a tree with its names unescaped."""
    return "/".join(map(unescaped, path.split("/"))) if ESCAPED in path else path


def quoted(name: str) -> str:
    """Returns a name as git writes it in a patch: in quotation marks if it has odd characters."""
    escaped_name = name.translate(_IN_QUOTES)
    return name if escaped_name == name else f'"{escaped_name}"'


def _is_refused(name: str) -> bool:
    return (
        name.startswith(ESCAPED)
        or name.translate(_INVISIBLE).lower() == ".git"
        or any(_WINDOWS_GIT.match(part) for part in name.split("\\"))
    )
