"""Replacing damaged objects of a mirror by those of the project, which has them too.

A file that both share is damaged in both or in neither; only copies can be repaired.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cleveragents.infrastructure.files import copy_durably
from cleveragents.infrastructure.sandbox.git.repository import Repository

_FAN_OUT = re.compile(r"[0-9a-f]{2}")
_LOOSE = re.compile(r"[0-9a-f]{38}")
_PACK = re.compile(r"pack-.+\.(pack|idx)")
_CHECKSUM_BYTES = 20
_CHUNK = 1 << 20


@dataclass(frozen=True)
class MirrorRepair:
    """What came of comparing a mirror with its project."""

    replaced: tuple[str, ...]
    """Object files of the mirror that were damaged; the project's are in their place now."""
    damaged_in_project: tuple[str, ...]
    """Object files of the project that are damaged."""


def repair_mirror(repository: Repository, mirror: Path) -> MirrorRepair:
    """Reads all objects that mirror and project have under one name; replaces damaged ones."""
    replaced: list[str] = []
    damaged: list[str] = []
    for theirs in _object_files(repository):
        mine = mirror / "objects" / theirs.parent.name / theirs.name
        if not mine.is_file() or _is_whole(mine):
            continue
        if not _is_whole(theirs):
            damaged.append(str(theirs))
            continue
        copy_durably(theirs, mine)
        mine.chmod(0o444)
        replaced.append(str(mine))
    return MirrorRepair(tuple(replaced), tuple(damaged))


def _object_files(repository: Repository) -> Iterator[Path]:
    """Yields the files of the project's loose objects and packs."""
    for directory in repository.object_directories():
        for place in sorted(directory.iterdir()):
            wanted = _PACK if place.name == "pack" else _LOOSE
            if place.name != "pack" and not _FAN_OUT.fullmatch(place.name):
                continue
            yield from (path for path in sorted(place.iterdir()) if wanted.fullmatch(path.name))


def _is_whole(path: Path) -> bool:
    with suppress(OSError, zlib.error):
        return _ends_with_checksum(path) if _PACK.fullmatch(path.name) else _is_loose_object(path)
    return False


def _is_loose_object(path: Path) -> bool:
    digest, unpack = hashlib.sha1(usedforsecurity=False), zlib.decompressobj()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(unpack.decompress(chunk))
    return unpack.eof and digest.hexdigest() == path.parent.name + path.name


def _ends_with_checksum(path: Path) -> bool:
    """Packs and their indexes end with a digest of everything before it."""
    digest, left = hashlib.sha1(usedforsecurity=False), path.stat().st_size - _CHECKSUM_BYTES
    with path.open("rb") as stream:
        while left > 0:
            chunk = stream.read(min(left, _CHUNK))
            digest.update(chunk)
            left -= len(chunk)
        return stream.read() == digest.digest()
