"""Paths that a user names in a sandbox: each means itself and everything in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cleveragents.domain.errors import UsageError


class NamedPaths:
    """Paths relative to a sandbox, which itself is `.`; only the outermost ones count."""

    def __init__(self, paths: Iterable[str]) -> None:
        """Raises UsageError for a path that is empty, absolute or leads upwards."""
        wanted = {_normal(path) for path in paths}
        self.is_everything = "" in wanted
        inner = {path for path in wanted if not wanted.isdisjoint(_above(path))}
        self.outermost: tuple[str, ...] = (
            () if self.is_everything else tuple(sorted(wanted - inner))
        )
        """Without doubled or trailing slashes; empty if everything is meant."""
        self._outermost = frozenset(self.outermost)

    def covers(self, path: str) -> bool:
        """Returns whether a path, written as in a `PathChange`, is named or inside a named one."""
        if self.is_everything or path in self._outermost:
            return True
        return not self._outermost.isdisjoint(_above(path))


def inside(path: str) -> str:
    """Returns a path as a `PathChange` writes it. Raises UsageError."""
    return _normal(path) or "."


def _normal(path: str) -> str:
    """Returns the path without empty and `.` parts; the sandbox itself is the empty text."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not path or path.startswith("/") or ".." in parts:
        raise UsageError(
            f"`{path}` is not a path inside the sandbox",
            hint="Name a path relative to the sandbox, without `..`",
            path=path,
        )
    return "/".join(parts)


def _above(path: str) -> Iterator[str]:
    """Yields the directories above a path, nearest first, without the sandbox itself."""
    while path := path.rpartition("/")[0]:
        yield path
