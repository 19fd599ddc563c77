"""Which home directory this is, so that a moved or copied one is recognized.

The file `identity` in the home holds a random id and the path where the home was when the file
was written. A home at another path was moved, or it is a copy: if the old path still leads to a
home with the same id, this one is the copy (docs/adr/0023-installations-have-an-identity.md).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from cleveragents.domain.health.home_state import HomeState
from cleveragents.infrastructure.files import write_durably

_FILE = "identity"


@dataclass(frozen=True)
class Identity:
    """What the file holds."""

    id: str
    path: str


def read_identity(home: Path) -> Identity | None:
    """Returns the identity of a home; None if it has none, or one that cannot be understood."""
    try:
        return _read(home)
    except OSError:
        return None


def _read(home: Path) -> Identity | None:
    """Like `read_identity`; raises PermissionError where this user may not look."""
    try:
        stored = json.loads((home / _FILE).read_bytes())
        return Identity(str(stored["id"]), str(stored["path"]))
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
        return None


def write_identity(home: Path, identity: Identity) -> None:
    """Stores the identity, durably. MUST be the last step: it says that all others are done."""
    text = json.dumps({"id": identity.id, "path": identity.path})
    write_durably(home / _FILE, f"{text}\n".encode())


def state_of(home: Path, identity: Identity | None) -> HomeState:
    """Compares the place of a home with its identity; reads nothing if it is the same path."""
    if identity is None:
        return HomeState.NEW
    if identity.path == str(home):
        return HomeState.SETTLED
    original = Path(identity.path)
    try:
        if original.samefile(home):
            return HomeState.SETTLED  # Another name of the same directory.
        found = _read(original)
    except FileNotFoundError:
        return HomeState.MOVED
    except OSError:
        return HomeState.COPIED  # Something is there that this user may not see.
    is_copy = found is not None and found.id == identity.id
    return HomeState.COPIED if is_copy else HomeState.MOVED
