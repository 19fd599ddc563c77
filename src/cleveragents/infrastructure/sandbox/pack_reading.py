"""Reading single objects straight from the packs of a store.

A few objects are read here before git has even started. Whatever is not found,
is large, or is not what its name says is left to git, which knows every way to
store an object and can say what is wrong with one. An agent can write to a store,
so nothing in it is believed; and files are read, not mapped, since one that is
cut short under a mapping would end this process.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cleveragents.infrastructure.sandbox.objects import Kind, object_id

_VERSION_2 = b"\377tOc\0\0\0\2"
_NAMES = len(_VERSION_2) + 1024
_ID = 20
_OFFSET_DELTA, _NAME_DELTA = 6, 7
_LARGEST = 1 << 20
_SMALL_INDEX = 1 << 16
_READ_AT_ONCE = 4096
_DELTAS_AT_MOST = 20
_NEWEST = 3

Part = Callable[[int, int], bytes]
"""Gives so many bytes of an index, from a place on."""


class _NotHereError(Exception):
    """Git has to be asked."""


@dataclass(frozen=True)
class _Pack:
    path: str
    """Without a suffix."""
    size: int
    modified: int


class Packs:
    """The packs in one directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = str(directory)
        self._packs: list[_Pack] = []
        self._indexes: dict[str, bytes] = {}
        """Small ones, read whole."""

    def read(self, name: str) -> bytes | None:
        """Returns the bytes that have that name, or None: then git has to be asked."""
        try:
            kind, data = self._read(bytes.fromhex(name), 0)
        except (_NotHereError, OSError, ValueError, IndexError, struct.error, zlib.error):
            return None
        return data if object_id(kind, data) == name else None

    def _read(self, name: bytes, depth: int) -> tuple[Kind, bytes]:
        with suppress(FileNotFoundError):  # A pack that was combined with others meanwhile.
            if (known := self._look(name, depth)) is not None:
                return known
        self._list()
        if (found := self._look(name, depth)) is not None:
            return found
        raise _NotHereError

    def _look(self, name: bytes, depth: int) -> tuple[Kind, bytes] | None:
        for pack in self._packs:
            offset = self._offset(pack, name)
            if offset is not None:
                with _opened(f"{pack.path}.pack") as descriptor:
                    return self._entry(descriptor, offset, depth)
        return None

    def _list(self) -> None:
        """Lists the newest first, then the largest: most was stored just now or by the project."""
        found = sorted(_packs_in(self._directory), key=lambda pack: -pack.modified)
        self._packs = found[:_NEWEST] + sorted(found[_NEWEST:], key=lambda pack: -pack.size)
        there = {pack.path for pack in found}
        self._indexes = {path: index for path, index in self._indexes.items() if path in there}

    def _offset(self, pack: _Pack, name: bytes) -> int | None:
        """Returns where an object begins in a pack, or None if it is not in it."""
        index = self._indexes.get(pack.path)
        if index is None:
            with _opened(f"{pack.path}.idx") as descriptor:
                if os.fstat(descriptor).st_size > _SMALL_INDEX:
                    return _place(name, lambda size, start: os.pread(descriptor, size, start))
                index = self._indexes[pack.path] = os.read(descriptor, _SMALL_INDEX)
        return _place(name, lambda size, start: index[start : start + size])

    def _entry(self, descriptor: int, offset: int, depth: int) -> tuple[Kind, bytes]:
        head = os.pread(descriptor, _READ_AT_ONCE, offset)
        kind, size, start = (head[0] >> 4) & 7, head[0] & 15, 1
        while head[start - 1] & 0x80:
            size |= (head[start] & 0x7F) << (7 * start - 3)
            start += 1
        if size > _LARGEST or depth > _DELTAS_AT_MOST:
            raise _NotHereError
        base: tuple[Kind, bytes] | None = None
        if kind == _OFFSET_DELTA:
            back, start = _distance(head, start)
            base = self._entry(descriptor, offset - back, depth + 1)
        elif kind == _NAME_DELTA:
            base = self._read(head[start : start + _ID], depth + 1)
            start += _ID
        data = _inflated(descriptor, offset + len(head), head[start:], size)
        return (Kind(kind), data) if base is None else (base[0], _patched(base[1], data))


def _packs_in(directory: str) -> Iterator[_Pack]:
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.endswith(".idx"):
                status = entry.stat(follow_symlinks=False)
                yield _Pack(entry.path.removesuffix(".idx"), status.st_size, status.st_mtime_ns)


@contextmanager
def _opened(path: str) -> Generator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _place(name: bytes, part: Part) -> int | None:
    """Looks a name up in an index: after a count for each first byte, names, checksums, offsets."""
    if part(len(_VERSION_2), 0) != _VERSION_2:
        raise _NotHereError

    def number(start: int) -> int:
        return struct.unpack(">I", part(4, start))[0]

    def count(byte: int) -> int:
        return number(len(_VERSION_2) + 4 * byte) if byte >= 0 else 0

    low, high = count(name[0] - 1), count(name[0])
    if high <= low:
        return None
    if (high - low) * _ID > _LARGEST:
        raise _NotHereError
    names = part((high - low) * _ID, _NAMES + low * _ID)
    position = names.find(name)
    while position % _ID and position >= 0:
        position = names.find(name, position + 1)
    if position < 0:
        return None
    offset = number(_NAMES + (_ID + 4) * count(255) + 4 * (low + position // _ID))
    if offset >> 31:
        raise _NotHereError  # Beyond 2 GiB.
    return offset


def _distance(head: bytes, start: int) -> tuple[int, int]:
    """Returns how far before a delta its base begins, and where the number ends."""
    distance = head[start] & 0x7F
    while head[start] & 0x80:
        start += 1
        distance = (distance + 1) << 7 | head[start] & 0x7F
    return distance, start + 1


def _inflated(descriptor: int, offset: int, packed: bytes, size: int) -> bytes:
    """Returns `size` bytes, of which `packed` is the beginning and the rest begins at `offset`."""
    inflater = zlib.decompressobj()
    data = inflater.decompress(packed, size + 1)
    while not inflater.eof and len(data) <= size:
        more = inflater.unconsumed_tail
        if not more:
            more = os.pread(descriptor, _READ_AT_ONCE * 16, offset)
            offset += len(more)
        if not more:
            raise _NotHereError
        data += inflater.decompress(more, size + 1 - len(data))
    if len(data) != size:
        raise _NotHereError
    return data


def _patched(base: bytes, delta: bytes) -> bytes:
    """Returns what a delta makes of its base: parts that are copied, and parts that it brings."""
    _, position = _size(delta, 0)
    size, position = _size(delta, position)
    if size > _LARGEST:
        raise _NotHereError
    made = bytearray()
    while position < len(delta) and len(made) <= size:
        order = delta[position]
        position += 1
        if order & 0x80:
            values = [0] * 7
            for bit in range(7):
                if order >> bit & 1:
                    values[bit] = delta[position]
                    position += 1
            start = int.from_bytes(bytes(values[:4]), "little")
            length = int.from_bytes(bytes(values[4:]), "little") or 0x10000
            made += base[start : start + length]
        else:
            made += delta[position : position + order]
            position += order
    return bytes(made)


def _size(delta: bytes, position: int) -> tuple[int, int]:
    size = shift = 0
    while True:
        byte = delta[position]
        size |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if not byte & 0x80:
            return size, position
