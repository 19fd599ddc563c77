"""Paths that a plan may name as its resources, and what is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from features.support.faults.strategy_faults import without_permission
from features.support.sandboxes.strategy_bench import StrategyBench
from msgspec.structs import replace

from cleveragents.domain.sandboxes.resource import ResourceType
from cleveragents.domain.sandboxes.sandbox import SharedPlace

Maker = Callable[[StrategyBench], Path]


def _place(work: StrategyBench) -> Path:
    place = work.world.directory / "place"
    (place.with_name("beside")).mkdir()
    return place


def _shell(command: str) -> Maker:
    def make(work: StrategyBench) -> Path:
        place = _place(work)
        work.shell(command, place.parent)
        return place

    return make


def _database(work: StrategyBench) -> Path:
    place = _place(work)
    work.database = place
    work.make_database()
    return place


def _holds_ours(work: StrategyBench) -> Path:
    work.world.environment["HOME"] = "/nonexistent-home"
    return work.world.directory


def _inside_ours(work: StrategyBench) -> Path:
    (work.home / "sandboxes").mkdir(parents=True)
    return work.home / "sandboxes"


def _our_database(work: StrategyBench) -> Path:
    work.world.agents_here("plan", "list")
    return work.home / "state.db"


def _closed(command: str, inside: str = "") -> Maker:
    def make(work: StrategyBench) -> Path:
        place = _place(work)
        work.data = place.parent
        work.shell(command, place.parent)
        work.surroundings = lambda: without_permission(work, place.name)
        return place / inside

    return make


SINGLE: dict[str, Maker] = {
    "a missing path": _place,
    "a loop of links": _shell("ln -s place place"),
    "a file": _shell(": > place"),
    "a text file": _shell("echo 'SQLite format 4, a text' > place"),
    "an empty file": _shell(": > place"),
    "a directory": _shell("mkdir place"),
    "a link to a directory": _shell("mkdir target; ln -s target place"),
    "a database": _database,
    "the root of the file system": lambda _: Path("/"),
    "the home directory": lambda work: Path(work.world.environment["HOME"]),
    "a directory that holds our own": _holds_ours,
    "a directory inside our own": _inside_ours,
    "our own database": _our_database,
    "a directory that may not be read": _closed("mkdir place"),
    "a path through one that is closed": _closed("mkdir -p place/inner", "inner"),
    "a file that may not be read": _closed(": > place"),
}


class Pairs:
    """A repository with things inside it, some of them tracked."""

    def __init__(self, work: StrategyBench) -> None:
        self.work = work
        self.root = work.world.project
        work.database = self.root / "app.db"
        work.make_database()
        work.shell(
            "git init -q . && mkdir -p data/inner docs/a && touch docs/a/b"
            " && echo '/app.db\n/data\n/link.db' > .gitignore"
            " && cp app.db tracked.db && cp app.db data/in.db && ln app.db link.db"
            " && git add -A && git -c user.name=x -c user.email=x@example.invalid commit -qm Start",
            self.root,
        )

    def combine(self, one: str, other: str) -> None:
        chosen = [
            replace(self.work.named(*self._named(name)), id=name, name=name)
            for name in (one, other)
        ]
        self.shared: Mapping[str, SharedPlace] = {}

        def share() -> None:
            self.shared = self.work.maker.shared_places(chosen)

        self.work.attempt(share)

    def _named(self, name: str) -> tuple[ResourceType, Path]:
        git, directory, database = ResourceType
        empty = self.root.parent / "empty"
        if "empty" in name or "that" in name:
            (empty / "inside").mkdir(parents=True, exist_ok=True)
            self.work.shell("git init -q .", empty)
        places = {
            "the repository": (git, self.root),
            "its git data": (directory, self.root / ".git"),
            "the tracked database": (database, self.root / "tracked.db"),
            "the ignored database": (database, self.root / "app.db"),
            "its hard link": (database, self.root / "link.db"),
            "the ignored directory": (directory, self.root / "data"),
            "a directory in it": (directory, self.root / "data" / "inner"),
            "a database in it": (database, self.root / "data" / "in.db"),
            "the same database": (database, self.root / "app.db"),
            "the tracked directory": (directory, self.root / "docs" / "a"),
            "its top directory": (directory, self.root),
            "another name for it": (git, self.root),
            "the empty repository": (git, empty),
            "a directory in that": (directory, empty / "inside"),
        }
        return places[name]
