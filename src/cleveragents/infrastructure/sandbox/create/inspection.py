"""Looking at directories and database files before they are sandboxed, without touching them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from cleveragents.domain.errors import ProjectRefusedError
from cleveragents.domain.sandboxes.resource import ResourceType
from cleveragents.domain.sandboxes.sandbox import ProjectFacts
from cleveragents.infrastructure.sandbox.git.repository import store_key

SQLITE_HEADER = b"SQLite format 3\0"


@dataclass(frozen=True)
class ProjectInspection:
    """Directories that a sandbox may not be made of."""

    user_home: Path | None
    our_home: Path


def inspect_directory(path: Path, surroundings: ProjectInspection) -> ProjectFacts:
    """Raises ProjectRefusedError unless it is a directory that can be copied whole."""
    found = _resolved(path, "directory", "Name a directory that exists")
    if not found.is_dir():
        raise ProjectRefusedError(str(found), "it is not a directory")
    try:
        os.scandir(found).close()
    except PermissionError as error:
        raise ProjectRefusedError(str(found), "permission denied") from error
    user_home = surroundings.user_home
    if found == Path(found.anchor) or (user_home is not None and user_home.is_relative_to(found)):
        raise ProjectRefusedError(
            str(found),
            "it is or holds your home directory, or is the root of the file system",
            hint="Name the directory that the plan really changes",
        )
    if surroundings.our_home.is_relative_to(found):
        raise ProjectRefusedError(
            str(found),
            f"it holds the home directory of CleverAgents, {surroundings.our_home}",
            hint="Set `CLEVERAGENTS_HOME` to a directory elsewhere",
        )
    _refuse_our_own(found, surroundings)
    return _facts(found, ResourceType.FS_DIRECTORY)


def inspect_database(path: Path, surroundings: ProjectInspection) -> ProjectFacts:
    """Raises ProjectRefusedError unless it is a SQLite database, or an empty file to become one."""
    found = _resolved(
        path, "file", "Make the database first; an empty file counts as an empty database"
    )
    if not found.is_file():
        raise ProjectRefusedError(str(found), "it is not a file")
    _refuse_our_own(found, surroundings)
    try:
        with found.open("rb") as stream:
            start = stream.read(len(SQLITE_HEADER))
    except OSError as error:
        raise ProjectRefusedError(str(found), f"it cannot be read: {error.strerror}") from error
    if start not in (b"", SQLITE_HEADER):
        raise ProjectRefusedError(
            str(found), "it is not a SQLite database", hint="An encrypted one cannot be read either"
        )
    return _facts(found, ResourceType.SQLITE)


def _resolved(path: Path, noun: str, hint: str) -> Path:
    try:
        found = path.resolve(strict=True)
    except PermissionError as error:
        raise ProjectRefusedError(str(path), "permission denied") from error
    except (OSError, RuntimeError) as error:
        raise ProjectRefusedError(str(path), f"there is no such {noun}", hint=hint) from error
    return found


def _refuse_our_own(found: Path, surroundings: ProjectInspection) -> None:
    if found.is_relative_to(surroundings.our_home):
        raise ProjectRefusedError(
            str(found), f"it is part of the home directory of CleverAgents, {surroundings.our_home}"
        )


def _facts(found: Path, kind: ResourceType) -> ProjectFacts:
    return ProjectFacts(
        root=str(found), key=store_key(found, kind), type=kind, head_commit=None, branch=None
    )
