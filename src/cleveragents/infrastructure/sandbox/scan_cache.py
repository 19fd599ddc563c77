"""What is remembered between two looks at a sandbox. It only saves work: losing it is harmless."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cleveragents.domain.sandbox import SandboxRef
from cleveragents.infrastructure.files import write_durably
from cleveragents.infrastructure.sandbox.scan import Known

_VERSION = 2


@dataclass(frozen=True)
class ScanCache:
    """Files as last read, every path ever captured, and the trees already stored."""

    snapshot: str
    """The snapshot it was made with: while that is there, so are its blobs and trees."""
    known: Mapping[str, Known]
    captured: Set[str]
    trees: Set[str]


def cache_path(sandbox: SandboxRef) -> Path:
    return Path(sandbox.path).parent / f".{sandbox.resource}.cache.json"


def load_cache(sandbox: SandboxRef) -> ScanCache | None:
    """Returns the cache, or None when there is none that is whole and of this version."""
    try:
        checksum, _, body = cache_path(sandbox).read_bytes().partition(b"\n")
    except OSError:
        return None
    if checksum != _checksum(body):
        return None
    content: dict[str, Any] = json.loads(body)
    return ScanCache(
        snapshot=content["snapshot"],
        known={
            path: Known((row[0], row[1], row[2], row[3], row[4]), bool(row[5]), row[6])
            for path, row in content["known"].items()
        },
        captured=frozenset(content["captured"]),
        trees=frozenset(content["trees"]),
    )


def save_cache(sandbox: SandboxRef, cache: ScanCache) -> None:
    content = {
        "snapshot": cache.snapshot,
        "known": {
            path: [*entry.signature, entry.racy, entry.object_id]
            for path, entry in cache.known.items()
        },
        "captured": sorted(cache.captured),
        "trees": sorted(cache.trees),
    }
    body = json.dumps(content).encode("ascii")
    write_durably(cache_path(sandbox), _checksum(body) + b"\n" + body)


def _checksum(body: bytes) -> bytes:
    digest = hashlib.sha256(b"cleveragents scan %d\0" % _VERSION)
    digest.update(body)
    return digest.hexdigest().encode()
