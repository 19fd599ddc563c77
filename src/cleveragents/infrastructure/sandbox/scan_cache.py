"""What is remembered between two looks at a sandbox. It only saves work: losing it is harmless."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cleveragents.domain.sandbox import SandboxRef
from cleveragents.infrastructure.files import write_durably
from cleveragents.infrastructure.sandbox.scan import Known

_VERSION = 1


@dataclass(frozen=True)
class ScanCache:
    """Files as last read, every path ever captured, and the trees already stored."""

    known: Mapping[str, Known]
    captured: Set[str]
    trees: Set[str]


def cache_path(sandbox: SandboxRef) -> Path:
    return Path(sandbox.path).parent / f".{sandbox.resource}.cache.json"


def load_cache(sandbox: SandboxRef, captured_paths: Callable[[], Set[str]]) -> ScanCache:
    """Returns the cache; without a readable one, only the captured paths are found out again."""
    try:
        content: dict[str, Any] = json.loads(cache_path(sandbox).read_bytes())
        if content["version"] != _VERSION:
            raise ValueError(content["version"])
        known = {
            path: Known((row[0], row[1], row[2], row[3], row[4]), bool(row[5]), str(row[6]))
            for path, row in content["known"].items()
        }
        return ScanCache(known, frozenset(content["captured"]), frozenset(content["trees"]))
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
        return ScanCache({}, captured_paths(), frozenset())


def save_cache(sandbox: SandboxRef, cache: ScanCache) -> None:
    content = {
        "version": _VERSION,
        "known": {
            path: [*entry.signature, entry.racy, entry.object_id]
            for path, entry in cache.known.items()
        },
        "captured": sorted(cache.captured),
        "trees": sorted(cache.trees),
    }
    write_durably(cache_path(sandbox), json.dumps(content).encode("ascii"))
