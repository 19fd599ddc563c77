"""What every technique of a comparison can do, ours and the peers'."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

from benchmarks.compare.results import Role


class NotAvailable(Exception):
    """This machine lacks what the technique needs; the message says what."""


class Technique(ABC):
    """One way to take snapshots of a directory and to go back to one."""

    name = ""
    role = Role.PEER
    watches = False
    takes_at_most: int | None = None
    """Files in a tree beyond which a snapshot takes so long that it is left out altogether."""
    restores_at_most: int | None = None
    """Files in a tree beyond which its restore takes minutes and is left out."""
    snapshots_after_change = True
    """Whether the tool has taken a snapshot of what it is then taken back from."""
    root: Path
    """The directory that snapshots are taken of."""

    @abstractmethod
    def __init__(self, origin: Path, store: Path) -> None:
        """Prepares what is never measured.

        Args:
            origin: The directory itself; for ours the project, whose sandbox it makes.
            store: A directory of its own, not made yet.
        """

    @abstractmethod
    def first(self) -> object:
        """Takes the first snapshot, with whatever has to be set up for it."""

    @abstractmethod
    def snapshot(self) -> object:
        """Takes a snapshot and returns what `restore` wants for it."""

    def snapshot_unmeasured(self) -> object:
        """Takes a snapshot like any other, in whatever way is quickest for the comparison."""
        return self.snapshot()

    @abstractmethod
    def restore(self, snapshot: object) -> None:
        """Brings the directory back to what it was."""

    def seconds_of_last(self) -> float | None:
        """Returns how long the last act took where another process measured it, else None."""
        return None

    def tidy(self) -> None:
        """Gives up what no later act needs; is never measured."""
        return None

    def close(self) -> None:
        """Ends what `first` started; the files stay."""
        return None
