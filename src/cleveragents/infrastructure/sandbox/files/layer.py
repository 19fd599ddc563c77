"""What a private view has changed, read from its upper layer alone.

Overlayfs writes every change to the upper layer: a file that was changed is copied there, what was
removed leaves a mark, and a directory that was made in the place of another one hides it. So the
cost of finding changes depends on what the session changed, not on the size of the project.

Of the project's git, the view has everything. Objects that the real project has too are never
part of a snapshot, because their names say what they hold; a restore brings them back from there.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cleveragents.infrastructure.files import sync_files
from cleveragents.infrastructure.sandbox.files.live_tree import KeptBelow, KnownDirectories
from cleveragents.infrastructure.sandbox.files.scan import FileSystemTime, scan
from cleveragents.infrastructure.sandbox.files.views import Layer
from cleveragents.infrastructure.sandbox.git.objects import NewObject, ObjectKind
from cleveragents.infrastructure.sandbox.store.captured_state import CapturedState, ancestors
from cleveragents.infrastructure.sandbox.store.lazy_tree import LazyTree, ReadTree

GIT = ".git"
CHANGED_OUTSIDE = "changed outside"
_OPAQUE = "user.overlay.opaque"
_OBJECT = re.compile(
    r"\.git/(?:modules/.+/)?"
    r"(?:objects/(?:[0-9a-f]{2}/[^/]+|pack/pack-[^/]+)|lfs/objects/.+/[0-9a-f]{64})",
    re.DOTALL,
)
"""Files whose names say what they hold."""
_OBJECTS = re.compile(
    r"\.git/(?:modules/.+/)?(?:objects(?:/[0-9a-f]{2}|/pack)?|lfs/objects(?:/.+)?)"
)
"""Directories of such files: no part of snapshots by themselves."""


@dataclass
class LayerChanges:
    """Where a view may differ from what was known at a moment."""

    paths: set[str] = field(default_factory=set[str])
    """What is new or was changed; directories among them only for their modes."""
    replaced: set[str] = field(default_factory=set[str])
    """Directories below which nothing known holds."""
    changed: list[str] = field(default_factory=list[str])
    """Directories of the layer in which names may have come or gone."""
    directories: dict[str, int] = field(default_factory=dict[str, int])
    """The inodes of the layer's directories, by path; the top is the empty path."""


def changes_in(layer: Layer, since: int, known: Mapping[str, int]) -> LayerChanges:
    """Returns what may have changed since a moment of the file system.

    Every write moves the change time of a file in the layer, and no program can set that time.
    A directory that was moved keeps old times inside, so directories are known by their inodes.

    Args:
        layer: The layer of the view.
        since: Change times before this are of what is known; 0 knows nothing.
        known: The directories that the layer had then.

    Raises:
        OSError: the layer itself cannot be read.
    """
    found = LayerChanges()
    os.scandir(layer.upper).close()
    waiting = [("", False)]
    while waiting:
        path, is_inside_new = waiting.pop()
        full = f"{layer.upper}/{path}" if path else str(layer.upper)
        try:
            status = os.lstat(full)
            with os.scandir(full) as entries:
                inside = [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
        except OSError:
            # It is gone, or nobody may look into it: the look at the view itself finds out.
            found.paths.add(path)
            continue
        found.directories[path] = status.st_ino
        is_new = is_inside_new or known.get(path) != status.st_ino
        if is_new or status.st_ctime_ns >= since:
            found.changed.append(path)
            if path:
                found.paths.add(path)
        if is_new and path and _hides_what_is_below(layer, path, full):
            found.replaced.add(path)
        before = f"{path}/" if path else ""
        for name, each in inside:
            if stat.S_ISDIR(each.st_mode):
                waiting.append((f"{before}{name}", is_new))
            elif is_new or each.st_ctime_ns >= since:
                found.paths.add(f"{before}{name}")
    found.paths.discard("")
    return found


def _hides_what_is_below(layer: Layer, path: str, full: str) -> bool:
    """Says whether a directory of the layer shows nothing of the project."""
    with suppress(OSError):
        if os.getxattr(full, _OPAQUE, follow_symlinks=False) == b"y":
            return True
    below = f"{layer.lower}/{path}"
    return os.path.islink(below) or not os.path.isdir(below)


def is_change_of_view(layer: Layer, path: str, had_at_start: Callable[[str], bool]) -> bool:
    """Says whether a name that came or went in a directory did so inside the view.

    Otherwise somebody changed the real project meanwhile, which is no work of the session.
    """
    if os.path.lexists(f"{layer.upper}/{path}"):
        return True
    if os.path.lexists(f"{layer.view}/{path}"):
        return False
    return os.path.lexists(f"{layer.lower}/{path}") or not had_at_start(path)


@dataclass(frozen=True)
class ObjectsBelow(KeptBelow):
    """What of the project's git is no part of snapshots.

    These are the objects that the real project has, and locks, which last as long as a command.
    """

    layer: Layer

    def keeps(self, path: str) -> bool:
        if not path.startswith(f"{GIT}/"):
            return False
        if path.endswith(".lock"):
            return True
        return _OBJECT.fullmatch(path) is not None and os.path.isfile(f"{self.layer.lower}/{path}")

    def holds(self, path: str) -> bool:
        return is_object_directory(path)


def is_object_directory(path: str) -> bool:
    return _OBJECTS.fullmatch(path) is not None


def remove_objects(layer: Layer) -> None:
    """Removes the objects of the project's git from a view that is to have no git."""
    below = ObjectsBelow(layer)
    for directory, _, names in os.walk(layer.view / GIT, topdown=False):
        place = os.path.relpath(directory, layer.view)
        for name in names:
            if below.keeps(f"{place}/{name}"):
                os.unlink(os.path.join(directory, name))
        if is_object_directory(place):
            with suppress(OSError):  # The others hold what a snapshot has.
                os.rmdir(directory)


def bring_back_objects(layer: Layer) -> None:
    """Copies the objects of the real project that the view has removed back into the view.

    Repeatable after a kill: an object has its final name only when it is whole.
    """
    made: list[Path] = []
    for removed in _removed_in(layer, GIT):
        for path in _files_below(layer, removed):
            place = layer.view / path
            if _OBJECT.fullmatch(path) is None or os.path.lexists(place):
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            draft = place.with_name(f"tmp_{place.name}")
            draft.unlink(missing_ok=True)
            shutil.copyfile(layer.lower / path, draft)
            shutil.copymode(layer.lower / path, draft)
            draft.replace(place)
            made.append(place)
    if made:
        sync_files(made)


def changed_outside(
    layer: Layer,
    start: CapturedState,
    read: ReadTree,
    known: KnownDirectories,
    environment: Mapping[str, str],
) -> list[str]:
    """Returns what was changed in the real project since a view of it was made.

    Only what the view did not change too, and what snapshots hold. A directory ends with `/`.

    Args:
        layer: The layer of the view.
        start: The project as it was then.
        read: Reads trees.
        known: The directories of the view.
        environment: For starting `find`.

    Raises:
        OSError: the project cannot be read.
    """
    tree = LazyTree(start.tree, read)
    left_out = {path.rstrip("/") for path in (*start.ignored, *start.not_captured)}
    found: set[str] = set()

    def note(path: str, *, is_directory: bool) -> None:
        is_left_out = any(place in left_out for place in (path, *ancestors(path)))
        if not is_left_out and not os.path.lexists(f"{layer.upper}/{path}"):
            found.add(f"{path}/" if is_directory else path)

    since = FileSystemTime(layer.made_at, 0, "")
    for item in scan(str(layer.lower), since, [GIT, *left_out], known, environment):
        full = f"{layer.lower}/{item.path}"
        if not item.is_directory:
            node = tree.get(item.path)
            if node is None or not _is_as_stored(full, node[1], start.mode_of(item.path, node[0])):
                note(item.path, is_directory=False)
            continue
        if item.path and not (item.path in start.bare_directories or tree.is_directory(item.path)):
            note(item.path, is_directory=True)
            continue
        before = f"{item.path}/" if item.path else ""
        there = set(os.listdir(full))
        for name in {*tree.names(item.path)} - there - {GIT}:
            gone = f"{before}{name}"
            note(gone, is_directory=tree.is_directory(gone))
    return sorted(found)


def _is_as_stored(full: str, object_id: str, mode: int) -> bool:
    try:
        status = os.lstat(full)
        if stat.S_ISLNK(status.st_mode):
            content = os.fsencode(os.readlink(full))
        elif stat.S_ISREG(status.st_mode) and status.st_mode == mode:
            content = Path(full).read_bytes()
        else:
            return False
    except OSError:
        return False
    return NewObject.of(ObjectKind.BLOB, content).id == object_id


def _removed_in(layer: Layer, top: str) -> Iterator[str]:
    """Yields the places at and below a path where the view hides something of the project."""
    waiting = [top]
    while waiting:
        path = waiting.pop()
        full = f"{layer.upper}/{path}"
        try:
            status = os.lstat(full)
        except OSError:
            continue
        if stat.S_ISDIR(status.st_mode):
            if _hides_what_is_below(layer, path, full):
                yield path
            waiting += [f"{path}/{name}" for name in os.listdir(full)]
        elif stat.S_ISCHR(status.st_mode) and status.st_rdev == 0:
            yield path


def _files_below(layer: Layer, path: str) -> Iterator[str]:
    full = layer.lower / path
    if not full.is_dir() or full.is_symlink():
        yield path
        return
    for directory, _, names in os.walk(full):
        for name in names:
            yield os.path.relpath(os.path.join(directory, name), layer.lower)
