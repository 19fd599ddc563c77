"""The files of a resource on their way from what was found to what is to be, and back."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from cleveragents.domain.errors import TargetChangedError
from cleveragents.infrastructure.sandbox.apply.journal import ApplyProgress
from cleveragents.infrastructure.sandbox.apply.project_writer import PathUpdates, ProjectWriter
from cleveragents.infrastructure.sandbox.files.writer import WriteBlob

_SHOWN = 10


class TargetFiles:
    """Placements below one directory, with where to write files before they are placed."""

    def __init__(
        self,
        root: Path,
        wanted: PathUpdates,
        staging: Path,
        blob: WriteBlob,
        placed: Callable[[], None],
        progress: ApplyProgress,
    ) -> None:
        self._root = root
        self._wanted = wanted
        self._staging = staging
        self._blob = blob
        self._placed = placed
        self._progress = progress
        self._place = ProjectWriter(root)

    def refuse_others(self) -> None:
        """Raises TargetChangedError if something is neither as it was found nor as it is to be."""
        others = self._place.others(self._wanted)
        if others:
            raise TargetChangedError(
                str(self._root),
                f"{', '.join(others[:_SHOWN])} changed",
                hint="Put back or move away what was changed there, then try again",
            )

    @property
    def is_brought(self) -> bool:
        """Whether everything has been in its place; somebody may have gone on from there."""
        return self._progress.is_brought

    @property
    def is_begun(self) -> bool:
        """Whether anything may be as it is to be."""
        return self._progress.is_begun

    def bring(self) -> None:
        if self._wanted.is_nothing or self.is_brought:
            return
        self.refuse_others()
        self._progress.begin()
        self._place.bring(self._wanted, self._staging, self._blob, self._placed)
        self._progress.end()

    def take_back(self) -> None:
        self._progress.turn_back()
        self._place.bring(self._wanted.reversed(), self._staging, self._blob, self._placed)
        self._progress.clear()

    def tidy(self) -> None:
        """Removes what a killed attempt left beside the files."""
        shutil.rmtree(self._staging, ignore_errors=True)
