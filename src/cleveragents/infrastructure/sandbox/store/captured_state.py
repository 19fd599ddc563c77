"""What a snapshot holds of a sandbox, without its files' names in memory.

A git tree holds names, bytes and the executable bit. The rest, full modes,
directories without files, what was not captured, HEAD and index, goes into a
small document beside the tree; `state_hash` names both.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from cleveragents.domain.errors import SnapshotCorruptError
from cleveragents.domain.sandboxes.uncaptured import Reason, reason_from
from cleveragents.infrastructure.sandbox.git.objects import GITLINK
from cleveragents.infrastructure.sandbox.store.lazy_tree import DIRECTORY, Node

_VERSION = 1
LINK = "120000"
EXECUTABLE = "100755"
REGULAR = "100644"
FIFO = "010000"
"""Never in a tree: the usual mode of a FIFO follows that of a regular file."""
LINK_MODE = stat.S_IFLNK | 0o777


@dataclass(frozen=True)
class TreeEntry:
    """A regular file or symbolic link."""

    object_id: str
    mode: int
    """Type and all permission bits, as `lstat` gives them."""


@dataclass(frozen=True)
class GitState:
    """Where the sandbox's own git is; all None where there is no git.

    HEAD and index that were damaged, and so not captured, are None too.
    """

    branch: str | None = None
    """Full ref name, or None when detached."""
    commit: str | None = None
    """None when the branch has no commit yet."""
    index_tree: str | None = None
    """The index as a tree, or None when it is kept as a listing."""
    index_listing: str | None = None
    """A blob with the index's entries, when a tree cannot hold them: conflicts or flags."""

    @property
    def head(self) -> tuple[str | None, str | None]:
        return self.branch, self.commit

    @property
    def has_head(self) -> bool:
        return self.head != (None, None)

    @property
    def has_index(self) -> bool:
        return self.index != (None, None)

    def is_met_by(self, found: GitState) -> bool:
        """Says whether another state is the same in everything that was captured of this one."""
        return (not self.has_head or found.head == self.head) and (
            not self.has_index or found.index == self.index
        )

    @property
    def index(self) -> tuple[str | None, str | None]:
        return self.index_tree, self.index_listing


UsualModes = Mapping[str, int]
"""By git mode: the modes that are not written down, because nearly everything has them."""


def usual_modes_under(umask: int) -> UsualModes:
    return {
        REGULAR: stat.S_IFREG | (0o666 & ~umask),
        EXECUTABLE: stat.S_IFREG | (0o777 & ~umask),
        DIRECTORY: 0o777 & ~umask,
        LINK: LINK_MODE,
    }


def usual_mode(usual: UsualModes, git_mode: str) -> int:
    if git_mode == FIFO:
        return stat.S_IFIFO | stat.S_IMODE(usual[REGULAR])
    # Old versions of git wrote other modes of regular files into trees.
    return usual.get(git_mode, usual[REGULAR])


@dataclass(frozen=True)
class CapturedState:
    """The whole captured state at one moment."""

    tree: str
    usual: UsualModes
    unusual: Mapping[str, int]
    """Modes that differ from the usual ones: of files and FIFOs with their type, of directories
    without."""
    top_mode: int
    """Permission bits of the sandbox's own directory."""
    empty_directories: Set[str]
    """Directories in which nothing was captured, not even a directory."""
    not_captured: Mapping[str, Reason]
    """Why a path could not be captured; a directory ends with `/`."""
    ignored: Set[str]
    """Paths left out on purpose; a directory ends with `/`. Not part of the state."""
    git: GitState

    @cached_property
    def bare_directories(self) -> Set[str]:
        """The empty directories and those above them, which a tree may not have."""
        return {place for path in self.empty_directories for place in (path, *ancestors(path))}

    @cached_property
    def fifos(self) -> Set[str]:
        return {path for path, reason in self.not_captured.items() if reason.is_fifo}

    def mode_of(self, path: str, git_mode: str) -> int:
        mode = self.unusual.get(path)
        return usual_mode(self.usual, git_mode) if mode is None else mode

    def entry_of(self, path: str, node: Node) -> TreeEntry:
        return TreeEntry(node[1], self.mode_of(path, node[0]))

    def document(self) -> bytes:
        """Returns what is stored beside the tree: equal states have equal bytes."""
        content: dict[str, object] = {
            "version": _VERSION,
            "tree": self.tree,
            "top_mode": self.top_mode,
            "modes": {
                "regular": self.usual[REGULAR],
                "executable": self.usual[EXECUTABLE],
                "directory": self.usual[DIRECTORY],
            },
            "unusual_modes": dict(self.unusual),
            "empty_directories": sorted(self.empty_directories),
            "not_captured": sorted(
                (path, reason.text) for path, reason in self.not_captured.items()
            ),
            "head": {"branch": self.git.branch, "commit": self.git.commit},
            "index": {"tree": self.git.index_tree, "listing": self.git.index_listing},
        }
        return json.dumps(content, sort_keys=True, separators=(",", ":")).encode("ascii")


def captured_from(document: bytes, ignored: Iterable[str]) -> CapturedState:
    """Returns what was stored as `document`.

    Raises:
        SnapshotCorruptError: the document has another format.
    """
    try:
        content: dict[str, Any] = json.loads(document)
        modes = content["modes"]
        return CapturedState(
            tree=content["tree"],
            usual={
                REGULAR: modes["regular"],
                EXECUTABLE: modes["executable"],
                DIRECTORY: modes["directory"],
                LINK: LINK_MODE,
            },
            unusual=dict(content["unusual_modes"]),
            top_mode=int(content["top_mode"]),
            empty_directories=frozenset(content["empty_directories"]),
            not_captured={path: reason_from(text) for path, text in content["not_captured"]},
            ignored=frozenset(ignored),
            git=GitState(
                branch=content["head"]["branch"],
                commit=content["head"]["commit"],
                index_tree=content["index"]["tree"],
                index_listing=content["index"]["listing"],
            ),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SnapshotCorruptError(f"A snapshot's document cannot be read: {error!r}") from error


def without_special_files(state: CapturedState) -> CapturedState:
    """Returns a state as a copy of the sandbox has it: special files are not copied."""
    special = {path for path, reason in state.not_captured.items() if reason.is_special_file}
    if not special:
        return state
    return replace(
        state,
        not_captured={path: why for path, why in state.not_captured.items() if path not in special},
        unusual={path: mode for path, mode in state.unusual.items() if path not in special},
    )


def ancestors(path: str) -> Iterable[str]:
    """Yields the directories above a path, nearest first, without the top one."""
    while path := path.rpartition("/")[0]:
        yield path


def git_mode_of(mode: int) -> str:
    """Returns how git's tree writes a mode of `lstat` down."""
    if stat.S_ISLNK(mode):
        return LINK
    if stat.S_ISDIR(mode):
        return DIRECTORY
    return EXECUTABLE if mode & 0o100 else REGULAR


def staged_objects(listing: bytes) -> set[str]:
    """Returns the blobs that an index kept as a listing names."""
    heads = (line.partition(b"\t")[0].split(b" ") for line in listing.split(b"\0")[:-1])
    return {object_id.decode() for _, mode, object_id, _ in heads if mode != GITLINK.encode()}
