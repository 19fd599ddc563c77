"""What an engine writes down for the next process: losing it costs a full look, nothing else.

It always describes a state that is stored: `proof` is the ref that keeps the
objects it speaks of. Without that ref it is not believed.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cleveragents.domain.errors import SnapshotCorruptError
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.domain.sandboxes.uncaptured import reason_from
from cleveragents.infrastructure.files import write_note
from cleveragents.infrastructure.sandbox.files.git_state import ObservedGit, Stamps
from cleveragents.infrastructure.sandbox.files.live_tree import RememberedFile
from cleveragents.infrastructure.sandbox.files.scan import FileSystemTime
from cleveragents.infrastructure.sandbox.store.captured_state import captured_from

_VERSION = 4


@dataclass(frozen=True)
class SavedState:
    """A sandbox as it was known at a moment."""

    proof: str
    """The ref that leads to its objects."""
    remembered: RememberedFile
    moment: FileSystemTime
    git: tuple[Stamps, ObservedGit] | None
    """What was found of the sandbox's git; None if it must be read again."""
    snapshots: frozenset[str]
    """The snapshots there were: what these hold is in `remembered`."""
    stored_bytes: int
    """What all snapshots of the sandbox have added to the store."""


def state_path(sandbox: SandboxRef) -> Path:
    return Path(sandbox.path).parent / f".{sandbox.resource}.state.json"


def load_state(sandbox: SandboxRef) -> SavedState | None:
    """Returns what was written down, or None if that is not whole or of another version."""
    try:
        checksum, _, body = state_path(sandbox).read_bytes().partition(b"\n")
        if checksum != _checksum(body):
            return None
        content: dict[str, Any] = json.loads(body)
        captured = captured_from(content["document"].encode(), content["ignored"])
    except (OSError, ValueError, SnapshotCorruptError):
        return None
    seen: tuple[Stamps, ObservedGit] | None = None
    if (git := content["git"]) is not None:
        uncaptured = tuple((path, reason_from(text)) for path, text in git["uncaptured"])
        look = ObservedGit(captured.git, (), uncaptured, frozenset(git["forced"]))
        seen = (git["stamps"], look)
    return SavedState(
        proof=content["proof"],
        remembered=RememberedFile(
            captured, content["directories"], content["top"], set(content["captured_once"])
        ),
        moment=FileSystemTime(*content["moment"]),
        git=seen,
        snapshots=frozenset(content["snapshots"]),
        stored_bytes=content["stored_bytes"],
    )


def save_state(sandbox: SandboxRef, state: SavedState) -> None:
    captured = state.remembered.captured
    git: dict[str, object] | None = None
    if state.git is not None and state.git[1].state.index_listing is None:
        stamps, look = state.git
        uncaptured = [(path, reason.text) for path, reason in look.uncaptured]
        forced = sorted(look.tracked_though_ignored)
        git = {"stamps": stamps, "uncaptured": uncaptured, "forced": forced}
    content: dict[str, object] = {
        "proof": state.proof,
        "document": captured.document().decode(),
        "ignored": sorted(captured.ignored),
        "directories": state.remembered.directories,
        "top": state.remembered.top,
        "captured_once": sorted(state.remembered.captured_once),
        "moment": [state.moment.nanoseconds, state.moment.clock_offset, state.moment.boot],
        "git": git,
        "snapshots": sorted(state.snapshots),
        "stored_bytes": state.stored_bytes,
    }
    body = json.dumps(content).encode("ascii")
    # What a kill leaves half is not believed, and after a power failure nothing is: the moment is
    # of another boot.
    write_note(state_path(sandbox), _checksum(body) + b"\n" + body)


def _checksum(body: bytes) -> bytes:
    digest = hashlib.sha256(b"cleveragents engine %d\0" % _VERSION)
    digest.update(body)
    return digest.hexdigest().encode()
