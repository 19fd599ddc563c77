"""Tools that make a command's work reversible, called through their own Python packages.

Both are installed by the extra `compare`. What is measured is what their commands call, without
the start of their process.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.compare.technique import NotAvailable, Technique


class Stepback(Technique):
    """A tree in the project's own object store, written through an index that is made anew."""

    name = "stepback"

    def __init__(self, origin: Path, store: Path) -> None:
        self._package = _imported("stepback.engine")
        self.root = origin
        store.mkdir(parents=True)
        self._engine: Any = None

    def first(self) -> object:
        self._engine = self._package.Engine(self.root)
        self._engine.start_session()
        return self.snapshot()

    def snapshot(self) -> object:
        # The tool returns nothing when the tree is that of its last checkpoint.
        return self._engine.checkpoint() or self._engine.state.latest()

    def restore(self, snapshot: object) -> None:
        self._engine.rewind(snapshot)


class Snapback(Technique):
    """A copy of everything, git's directory included, and a second one before going back."""

    name = "snapback"
    takes_at_most: int | None = 20_000

    def __init__(self, origin: Path, store: Path) -> None:
        self._targets = _imported("snapback.config").load_targets
        self.root = origin
        store.mkdir(parents=True)
        self._store: Any = _imported("snapback.store").Store(origin)
        # The tool keeps its copies in the project; there, comparing trees would find them.
        self._store.dir = store
        self._store.snap_dir = store / "snapshots"
        self._store.stack_file = store / "stack.json"

    def first(self) -> object:
        return self.snapshot()

    def snapshot(self) -> object:
        return self._store.snapshot(self._targets(self.root))["id"]

    def restore(self, snapshot: object) -> None:
        self._store.undo(snapshot)

    def tidy(self) -> None:
        self._store.gc(3)


def _imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise NotAvailable(
            f"{package} is not installed; `pip install -e '.[compare]'` installs it"
        ) from error
