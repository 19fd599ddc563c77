"""The files of a resource on their way from what was found to what is to be, and back."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from cleveragents.domain.apply import TargetChangedError
from cleveragents.infrastructure.sandbox.placing import Place, Placements
from cleveragents.infrastructure.sandbox.restore import WriteBlob

_SHOWN = 10


class TargetFiles:
    """Placements below one directory, with where to write files before they are placed."""

    def __init__(
        self,
        root: Path,
        wanted: Placements,
        staging: Path,
        blob: WriteBlob,
        placed: Callable[[], None],
    ) -> None:
        self._root = root
        self._wanted = wanted
        self._staging = staging
        self._blob = blob
        self._placed = placed
        self._place = Place(root)

    @property
    def others(self) -> list[str]:
        """What is neither as it was found nor as it is to be."""
        return self._place.others(self._wanted)

    def refuse_others(self) -> None:
        """Raises TargetChangedError if there is any such thing."""
        others = self.others
        if others:
            raise TargetChangedError(
                str(self._root),
                f"{', '.join(others[:_SHOWN])} changed",
                hint="Put back or move away what was changed there, then try again",
            )

    @property
    def is_begun(self) -> bool:
        """Whether anything is already as it is to be."""
        return any(
            self._place.entry(item.path) == item.after
            for item in self._wanted.files
            if item.before != item.after
        ) or any(
            self._place.directory_mode(item.path) != item.before
            for item in self._wanted.directories
        )

    @property
    def is_done(self) -> bool:
        """Whether nothing is as it was any more; somebody may have gone on from there."""
        changing = [item for item in self._wanted.files if item.before != item.after]
        return self.is_begun and all(
            self._place.entry(item.path) != item.before for item in changing
        )

    def bring(self) -> None:
        self._place.bring(self._wanted, self._staging, self._blob, self._placed)

    def take_back(self) -> None:
        self._place.bring(self._wanted.reversed(), self._staging, self._blob, self._placed)

    def tidy(self) -> None:
        """Removes what a killed attempt left beside the files."""
        shutil.rmtree(self._staging, ignore_errors=True)
