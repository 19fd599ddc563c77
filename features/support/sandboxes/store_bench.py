"""A store with a history: many checkpoints, leftovers of killed runs, git at work beside it."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from unittest.mock import patch

from behave.runner import Context
from features.support.sandboxes.sandbox_bench import SandboxBench
from features.support.world import World

from cleveragents.domain.health.maintenance import CollectedStore, KnownRecords
from cleveragents.infrastructure.sandbox.gc.mirrors import ProjectMirrors
from cleveragents.infrastructure.sandbox.git.command import git_on_mirror
from cleveragents.infrastructure.sandbox.store import repacking
from cleveragents.infrastructure.sandbox.store.repacking import combine_packs, room_of

FEW = 4
"""How many packs are many, in these scenarios."""
Files = dict[str, tuple[int, int, bytes]]


class StoreBench:
    """The store of one sandbox, and what was put into it."""

    def __init__(self, world: World) -> None:
        self.work = SandboxBench(world)
        self.snapshots: list[str] = []
        self.kept: set[str] | None = None
        """What the records are to name; None means every snapshot."""
        self.known = {"FIRST"}
        self.combined = 0
        self.collected: CollectedStore | None = None
        self.before: Files = {}
        self.unreachable = ""

    @property
    def store(self) -> Path:
        return self.work.mirror

    @property
    def packs(self) -> Path:
        return self.store / "objects" / "pack"

    @property
    def result(self) -> CollectedStore:
        assert self.collected is not None, "nothing was collected"
        return self.collected

    def fill(self, count: int) -> None:
        """Makes checkpoints, each of which changes a file and adds a small pack."""
        for number in range(len(self.snapshots), len(self.snapshots) + count):
            place = self.work.root / "src" / "changing.txt"
            place.write_text(f"{number}\n" * 300)
            made = self.work.acts().snapshot()
            self.snapshots.append(made.snapshot_id)

    def drop(self, count: int) -> None:
        """Drops the oldest checkpoints by name, as retention does."""
        dropped, self.snapshots = self.snapshots[:count], self.snapshots[count:]
        self.work.acts().delete(dropped)

    def combine(self) -> None:
        with patch.object(repacking, "MANY_PACKS", FEW):
            self.combined = combine_packs(self.work.git, self.store)

    def collect(self, *, dry_run: bool = False) -> None:
        self.before = self.files()
        stores = ProjectMirrors(self.work.git, self.work.world.home)
        (key,) = stores.keys()
        self.collected = stores.collect(key, self.naming, dry_run=dry_run)

    def naming(self, plans: Collection[str]) -> KnownRecords:
        kept = set(self.snapshots) if self.kept is None else self.kept
        return KnownRecords(
            plans=self.known & set(plans),
            snapshots={("FIRST", snapshot) for snapshot in kept},
            sandboxes={("FIRST", "project")},
            given_up=set(),
            holder=None,
        )

    def files(self) -> Files:
        """Inode, links and bytes of each file in the store, as our own eyes see them."""
        paths = (path for path in self.store.rglob("*") if path.is_file() and not path.is_symlink())
        return {
            str(path): (path.stat().st_ino, path.stat().st_nlink, path.read_bytes())
            for path in paths
        }

    def project_objects(self) -> Files:
        """Inode, modification time and bytes of each object file of the user's repository."""
        paths = (path for path in (self.work.project / ".git/objects").rglob("*") if path.is_file())
        return {
            str(path): (path.stat().st_ino, path.stat().st_mtime_ns, path.read_bytes())
            for path in paths
        }

    def check_whole(self) -> None:
        """Everything that was kept can be read back, and git finds nothing wrong."""
        for snapshot in self.snapshots:
            self.work.acts().verify(snapshot)
        assert self.work.fsck() == "", self.work.fsck()

    def check_tidy(self) -> None:
        room = room_of(self.store)
        left = [*room.iterdir()] if room.exists() else []
        assert not left and not list(self.packs.glob("tmp*")), left

    def objects(self, *arguments: str) -> set[str]:
        """The first words of what git says about objects of the store."""
        said = subprocess.run(
            ["git", f"--git-dir={self.store}", *arguments],
            env=self.work.world.environment,
            capture_output=True,
            check=True,
        )
        return {line.split()[0].decode() for line in said.stdout.splitlines()}

    def stored(self) -> set[str]:
        return self.objects("cat-file", "--batch-all-objects", "--batch-check")

    def reachable(self) -> set[str]:
        return self.objects("rev-list", "--objects", "--all", "--indexed-objects")

    def add_unreachable(self) -> None:
        """Stores something that nothing leads to yet, as a process between object and ref does."""
        self.fill(1)
        self.unreachable = self.snapshots.pop()
        self.work.acts().delete([self.unreachable])

    @contextmanager
    def resident_reader(self) -> Iterator[Callable[[str], bytes]]:
        """A git that was started before and goes on answering."""
        with git_on_mirror(self.work.git, self.store).session("cat-file", "--batch") as pipes:
            yield lambda name: _ask(*pipes, name)

    def age(self, path: Path, seconds: float = 7200) -> None:
        then = time.time() - seconds
        os.utime(path, (then, then), follow_symlinks=False)

    @contextmanager
    def small_files_only(self) -> Iterator[None]:
        """No process can write a file of more than 100 bytes: git fails in the middle of a pack."""
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    def damage_a_pack(self) -> None:
        """Turns over a bit in the middle of the newest pack."""
        path = max(self.packs.glob("*.pack"), key=lambda path: path.stat().st_mtime_ns)
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 0x40
        path.unlink()
        path.write_bytes(content)

    def save(self) -> None:
        shutil.copytree(self.work.world.home, self._saved, symlinks=True)

    def restore_saved(self) -> None:
        shutil.rmtree(self.work.world.home)
        shutil.copytree(self._saved, self.work.world.home, symlinks=True)

    @property
    def _saved(self) -> Path:
        return self.work.world.directory / "saved"


def _ask(questions: IO[bytes], answers: IO[bytes], name: str) -> bytes:
    questions.write(f"{name}\n".encode())
    questions.flush()
    head = answers.readline().split()
    assert len(head) == 3, head
    return answers.read(int(head[2]) + 1)[:-1]


def store_bench(context: Context) -> StoreBench:
    """The scenario's store."""
    if "store_bench" not in context:
        context.store_bench = StoreBench(context.world)
    return context.store_bench
