"""What a sandbox holds: the state that snapshots store and restores compare.

A git tree holds names, bytes and the executable bit. The rest of a manifest,
full modes, directories without files, what was not captured, HEAD and index,
goes into a small document beside the tree; `state_hash` names both.
"""

from __future__ import annotations

import hashlib
import json
import stat
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cleveragents.domain.errors import SnapshotCorruptError

_VERSION = 1
_LINK = "120000"
_EXECUTABLE = "100755"
_REGULAR = "100644"


@dataclass(frozen=True)
class Entry:
    """A regular file or symbolic link."""

    object_id: str
    mode: int
    """Type and all permission bits, as `lstat` gives them."""

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.mode)

    @property
    def git_mode(self) -> str:
        if self.is_link:
            return _LINK
        return _EXECUTABLE if self.mode & 0o100 else _REGULAR


@dataclass(frozen=True)
class GitState:
    """Where the sandbox's own git is."""

    branch: str | None
    """Full ref name, or None when detached."""
    commit: str | None
    """None when the branch has no commit yet."""
    index_tree: str | None
    """The index as a tree, or None when it is kept as a listing."""
    index_listing: str | None
    """A blob with the index's entries, when a tree cannot hold them: conflicts or flags."""

    @property
    def index(self) -> tuple[str | None, str | None]:
        return self.index_tree, self.index_listing


@dataclass(frozen=True)
class Manifest:
    """Everything captured of a sandbox at one moment."""

    files: Mapping[str, Entry]
    directories: Mapping[str, int]
    """Permission bits of every directory but the top one."""
    top_mode: int
    """Permission bits of the sandbox's own directory."""
    git: GitState
    not_captured: tuple[tuple[str, str], ...]
    """Path and reason of what could not be captured."""
    ignored: tuple[str, ...] = ()
    """Paths left out on purpose; a directory ends with `/`. Not part of the state."""

    def bare_directories(self) -> list[str]:
        """Returns the directories in which nothing was captured, not even a directory."""
        parents = {parent_of(path) for path in (*self.files, *self.directories)}
        return sorted(path for path in self.directories if path not in parents)

    def tree_entries(self) -> dict[str, tuple[str, str]]:
        return {path: (entry.git_mode, entry.object_id) for path, entry in self.files.items()}


def parent_of(path: str) -> str:
    return path.rpartition("/")[0]


def ancestors(path: str) -> Iterable[str]:
    """Yields the directories above a path, nearest first, without the top one."""
    while path := parent_of(path):
        yield path


def all_ancestors(paths: Iterable[str]) -> set[str]:
    """Returns every directory above any of the paths, without the top one."""
    found: set[str] = set()
    for path in paths:
        above = parent_of(path)
        while above and above not in found:
            found.add(above)
            above = parent_of(above)
    return found


def document_of(manifest: Manifest, tree: str) -> bytes:
    """Returns the document stored beside the tree: canonical, so equal states have equal bytes."""
    usual, unusual = _modes(manifest)
    content: dict[str, object] = {
        "version": _VERSION,
        "tree": tree,
        "top_mode": manifest.top_mode,
        "modes": usual,
        "unusual_modes": unusual,
        "empty_directories": manifest.bare_directories(),
        "not_captured": sorted(manifest.not_captured),
        "head": {"branch": manifest.git.branch, "commit": manifest.git.commit},
        "index": {"tree": manifest.git.index_tree, "listing": manifest.git.index_listing},
    }
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode("ascii")


def state_hash_of(document: bytes) -> str:
    return hashlib.sha256(document).hexdigest()


def manifest_from(
    document: bytes, tree: Mapping[str, tuple[str, str]], ignored: Iterable[str]
) -> Manifest:
    """Returns the manifest that was stored as `document` and `tree`.

    Raises:
        SnapshotCorruptError: the document is not one of ours.
    """
    try:
        content: dict[str, Any] = json.loads(document)
        usual, unusual = content["modes"], content["unusual_modes"]
        files = {
            path: Entry(object_id, unusual.get(path, _usual_mode(git_mode, usual)))
            for path, (git_mode, object_id) in tree.items()
        }
        empty: list[str] = content["empty_directories"]
        directories = {
            path: int(unusual.get(path, usual["directory"]))
            for path in all_ancestors((*files, *empty)) | {*empty}
        }
        return Manifest(
            files=files,
            directories=directories,
            top_mode=int(content["top_mode"]),
            git=GitState(
                branch=content["head"]["branch"],
                commit=content["head"]["commit"],
                index_tree=content["index"]["tree"],
                index_listing=content["index"]["listing"],
            ),
            not_captured=tuple((path, reason) for path, reason in content["not_captured"]),
            ignored=tuple(ignored),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SnapshotCorruptError(f"A snapshot's document cannot be read: {error!r}") from error


def _usual_mode(git_mode: str, usual: Mapping[str, int]) -> int:
    if git_mode == _LINK:
        return stat.S_IFLNK | 0o777
    return usual["executable" if git_mode == _EXECUTABLE else "regular"]


def _modes(manifest: Manifest) -> tuple[dict[str, int], dict[str, int]]:
    """Returns the commonest mode of each kind and, by path, the modes that differ from it."""
    kinds: dict[str, dict[str, int]] = {"regular": {}, "executable": {}, "directory": {}}
    for path, entry in manifest.files.items():
        if not entry.is_link:
            kind = "executable" if entry.git_mode == _EXECUTABLE else "regular"
            kinds[kind][path] = entry.mode
    kinds["directory"].update(manifest.directories)
    usual = {kind: _commonest(modes.values()) for kind, modes in kinds.items()}
    unusual = {
        path: mode
        for kind, modes in kinds.items()
        for path, mode in modes.items()
        if mode != usual[kind]
    }
    return usual, unusual


def _commonest(modes: Iterable[int]) -> int:
    counted = Counter(modes)
    return min(counted, key=lambda mode: (-counted[mode], mode)) if counted else 0
