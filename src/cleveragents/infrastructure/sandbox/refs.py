"""The refs that keep snapshots, read and written without starting git where that is safe."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from cleveragents.domain.sandbox import SandboxRef
from cleveragents.infrastructure.files import fsync_directory, write_durably
from cleveragents.infrastructure.sandbox.git import Git
from cleveragents.infrastructure.sandbox.layout import git_on_mirror


class SnapshotRefs:
    """One ref for each stored state of one sandbox."""

    def __init__(self, sandbox: SandboxRef, git: Git) -> None:
        self._store = Path(sandbox.store)
        self._git = git_on_mirror(git, self._store)
        self._place = f"refs/cleveragents/snapshots/{sandbox.plan_id}/{sandbox.resource}"
        self.base = f"refs/cleveragents/base/{sandbox.plan_id}/{sandbox.resource}"
        """Keeps what the sandbox was made from."""

    def name(self, snapshot_id: str) -> str:
        return f"{self._place}/{snapshot_id}"

    def has(self, name: str) -> bool:
        """Says whether a ref is there: as a file of its own, or packed with others."""
        if os.path.exists(f"{self._store}/{name}"):
            return True
        return f" {name}\n".encode() in self._packed()

    def ids(self) -> list[str]:
        """Returns the snapshots that have a ref."""
        start = f"{self._place}/".encode()
        packed = (line.partition(b" ")[2] for line in self._packed().split(b"\n"))
        found = {os.fsdecode(name[len(start) :]) for name in packed if name.startswith(start)}
        with suppress(FileNotFoundError):
            found |= {name for name in os.listdir(self._store / self._place) if "." not in name}
        return sorted(found)

    def prepare(self) -> None:
        """Makes the directory of the refs, durably, so that the first snapshot need not."""
        directory = f"{self._store}/{self._place}"
        if not os.path.isdir(directory):
            self._make_directory(Path(directory))

    def write(self, snapshot_id: str, anchor: str) -> None:
        """Makes the ref, durably."""
        self.prepare()
        path = Path(f"{self._store}/{self.name(snapshot_id)}")
        write_durably(path, f"{anchor}\n".encode(), mode=0o644)

    def delete(self, snapshot_ids: Iterable[str]) -> None:
        """Drops refs; one that is packed with others takes git, a file of its own does not."""
        packed = self._packed()
        commands: list[str] = []
        for snapshot in snapshot_ids:
            name = self.name(snapshot)
            if f" {name}\n".encode() in packed:
                commands.append(f"delete {name}\n")
            else:
                (self._store / name).unlink(missing_ok=True)
        if commands:
            self._git.run("update-ref", "--stdin", stdin="".join(commands).encode())

    def _make_directory(self, directory: Path) -> None:
        missing = [directory]
        while not missing[-1].parent.is_dir():
            missing.append(missing[-1].parent)
        directory.mkdir(parents=True, exist_ok=True)
        for made in reversed(missing):
            fsync_directory(made.parent)

    def _packed(self) -> bytes:
        try:
            return (self._store / "packed-refs").read_bytes()
        except FileNotFoundError:
            return b""
