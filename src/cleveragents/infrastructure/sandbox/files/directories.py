"""The directories of a sandbox that are looked into, each with its inode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


class KnownDirectories:
    """A set of directories in which a whole subtree is found without going through all."""

    def __init__(self, inodes: Mapping[str, int]) -> None:
        self._inodes = dict(inodes)
        self._inside: dict[str, set[str]] = {}
        for path in self._inodes:
            self._inside.setdefault(path.rpartition("/")[0], set()).add(path)

    def __contains__(self, path: str) -> bool:
        return path in self._inodes

    def __iter__(self) -> Iterator[str]:
        return iter(self._inodes)

    def __len__(self) -> int:
        return len(self._inodes)

    def inode(self, path: str) -> int | None:
        return self._inodes.get(path)

    def add(self, path: str, inode: int) -> None:
        self._inodes[path] = inode
        self._inside.setdefault(path.rpartition("/")[0], set()).add(path)

    def directly_in(self, path: str) -> set[str]:
        return self._inside.get(path, set())

    def remove(self, path: str) -> list[str]:
        """Takes out a directory and all below it, and returns them."""
        if path not in self._inodes:
            return []
        self._inside[path.rpartition("/")[0]].discard(path)
        gone: list[str] = []
        waiting = [path]
        while waiting:
            each = waiting.pop()
            gone.append(each)
            del self._inodes[each]
            waiting += self._inside.pop(each, ())
        return gone

    def copy(self) -> dict[str, int]:
        return dict(self._inodes)
