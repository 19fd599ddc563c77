"""Looking at the database of a sandbox: what it is, and a copy of it that holds still."""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from cleveragents.domain.errors import SandboxMissingError
from cleveragents.domain.sandboxes.sandbox import Uncaptured
from cleveragents.infrastructure.sandbox.sqlite.chunks import DatabaseState, FileKind, chunk_ids
from cleveragents.infrastructure.sandbox.sqlite.files import (
    DatabaseDamagedError,
    DatabaseFiles,
    copy_database,
    is_write_ahead,
)

NOT_A_FILE = "not a file"


@dataclass(frozen=True)
class DatabaseContents:
    """The database at one moment."""

    state: DatabaseState
    not_captured: tuple[Uncaptured, ...]
    """What else lies in its directory."""


def look(place: Path, copy: Path, patience: float) -> DatabaseContents:
    """Says what is at `place`; a file's bytes are in `copy` afterwards.

    Raises:
        SandboxMissingError: the directory is gone.
        DatabaseBusyError: others keep the database locked.
    """
    return DatabaseContents(_state(place, copy, patience), others(place))


def others(place: Path) -> tuple[Uncaptured, ...]:
    """Returns what lies beside the database and is not SQLite's."""
    files = DatabaseFiles(place)
    own = {path.name for path in (place, *files.companions)}
    try:
        names = sorted(set(os.listdir(place.parent)) - own)
    except OSError as error:
        raise SandboxMissingError(str(place), "is missing") from error
    found = [Uncaptured(path=name, reason="not part of the database") for name in names]
    if os.path.lexists(place) and not stat.S_ISREG(place.lstat().st_mode):
        found.append(Uncaptured(path=place.name, reason=NOT_A_FILE))
    return tuple(found)


def _state(place: Path, copy: Path, patience: float) -> DatabaseState:
    copy.unlink(missing_ok=True)
    try:
        mode = place.lstat().st_mode
    except FileNotFoundError:
        return DatabaseState(FileKind.MISSING)
    if not stat.S_ISREG(mode):
        return DatabaseState(FileKind.OTHER)
    kind = _copied(place, copy, patience)
    return DatabaseState(
        kind=kind,
        size=copy.stat().st_size,
        mode=stat.S_IMODE(mode),
        write_ahead=kind is FileKind.DATABASE and is_write_ahead(copy),
        chunks=chunk_ids(copy, kind),
    )


def _copied(place: Path, copy: Path, patience: float) -> FileKind:
    try:
        copy_database(place, copy, patience)
    except DatabaseDamagedError:
        shutil.copyfile(place, copy)
        return FileKind.BYTES
    return FileKind.DATABASE if copy.stat().st_size else FileKind.BYTES
