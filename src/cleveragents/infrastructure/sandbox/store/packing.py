"""Combining packs beside the work, so that no checkpoint waits for it."""

from __future__ import annotations

import threading
from pathlib import Path

from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.store.repacking import combine_packs

_LOOKED_AT_EVERY = 64


class Repacking:
    """Looks after the number of packs of one store, one round at a time."""

    def __init__(self, git: Git, store: Path) -> None:
        self._git = git
        self._store = store
        self._added = 0
        self._round: threading.Thread | None = None

    def added_one(self) -> None:
        """Says that there is one more pack."""
        self._added += 1
        if self._added >= _LOOKED_AT_EVERY and (self._round is None or not self._round.is_alive()):
            self._added = 0
            self._round = threading.Thread(
                target=combine_packs, args=(self._git, self._store), daemon=True
            )
            self._round.start()

    def finish(self) -> None:
        """Looks once more if packs were added: a short process never gets to a round."""
        self.wait()
        if self._added:
            self._added = 0
            combine_packs(self._git, self._store)

    def wait(self) -> None:
        """Lets a round that runs come to its end."""
        if self._round is not None:
            self._round.join()
            self._round = None
