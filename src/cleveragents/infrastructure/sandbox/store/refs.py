"""What keeps the objects of a mirror from being collected: refs, and a lock while one is at work.

Each snapshot has a ref. Refs are read and written without starting git where that is safe.

Objects are stored before a ref leads to them. So whoever works in a mirror holds the lock on
`<key>.use` beside `<key>.git`, together with others; only who has it alone may take things out.
The lock belongs to an open file, so the system releases it when a process ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator, Iterable
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from cleveragents.domain.errors import SnapshotError, SnapshotMissingError
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.infrastructure.file_locks import (
    lock_file,
    signed,
    take_lock,
    wait_for_lock,
)
from cleveragents.infrastructure.files import (
    draft_beside,
    fsync_directory,
    overwrite_durably,
    write_durably,
)
from cleveragents.infrastructure.sandbox.git.command import Git, git_on_mirror

_USE = ".use"


class SnapshotRefs:
    """One ref for each stored state of one sandbox."""

    def __init__(self, sandbox: SandboxRef, git: Git) -> None:
        self._store = Path(sandbox.store)
        self._git = git_on_mirror(git, self._store)
        self._place = f"refs/cleveragents/snapshots/{sandbox.plan_id}/{sandbox.resource}"
        self._forked = f"refs/cleveragents/forks/{sandbox.plan_id}/{sandbox.resource}"
        self._starts = f"refs/cleveragents/starts/{sandbox.plan_id}/{sandbox.resource}"
        """Keeps what the sandbox held before the first step, even without checkpoints."""
        self._included = f"refs/cleveragents/included/{sandbox.plan_id}/{sandbox.resource}"
        """Keeps what an apply adds to the last snapshot, because no checkpoint holds it."""
        self._branch = sandbox.branch
        self.base = f"refs/cleveragents/base/{sandbox.plan_id}/{sandbox.resource}"
        """Keeps what the sandbox was made from."""
        self._spare: str | None = None
        """The file of a ref that was dropped, for the next one."""

    def close(self) -> None:
        if self._spare is not None:
            Path(self._spare).unlink(missing_ok=True)
            self._spare = None

    def name(self, snapshot_id: str) -> str:
        return f"{self._place}/{snapshot_id}"

    def _inherited_name(self, snapshot_id: str) -> str:
        """Returns the ref that keeps another plan's snapshot, which the sandbox started as."""
        return f"{self._forked}/{snapshot_id}"

    def has(self, name: str) -> bool:
        """Says whether a ref is there: as a file of its own, or packed with others."""
        if os.path.exists(f"{self._store}/{name}"):
            return True
        return f" {name}\n".encode() in self._packed()

    def ids(
        self,
        *,
        own: bool = True,
        inherited: bool = False,
        started: bool = False,
        included: bool = False,
    ) -> list[str]:
        """Returns the snapshots that have a ref.

        Args:
            own: Whether those of the sandbox itself are wanted.
            inherited: Whether those of other plans are, which the sandbox started as.
            started: Whether the one is that was kept as the start of the plan.
            included: Whether the one is that was kept for the last apply.
        """
        packed = [line.partition(b" ")[2] for line in self._packed().split(b"\n")]
        found: set[str] = set()
        places = [self._place] * own + [self._forked] * inherited
        for place in places + [self._starts] * started + [self._included] * included:
            start = f"{place}/".encode()
            found |= {os.fsdecode(name[len(start) :]) for name in packed if name.startswith(start)}
            with suppress(FileNotFoundError):
                names = os.listdir(f"{self._store}/{place}")
                found |= {name for name in names if "." not in name}
        return sorted(found)

    def anchor(self, snapshot_id: str) -> str | None:
        """Returns what the ref of a snapshot points to, if it has one, inherited or not."""
        for name in (self.name(snapshot_id), self._inherited_name(snapshot_id)):
            with suppress(FileNotFoundError):
                return (self._store / name).read_text(encoding="ascii").strip()
            for line in self._packed().split(b"\n"):
                if line.partition(b" ")[2] == os.fsencode(name):
                    return line.partition(b" ")[0].decode()
        return None

    def keep_start(self, snapshot_id: str) -> None:
        """Keeps a snapshot as the start of the plan, durably, unless one is kept already.

        Raises:
            SnapshotMissingError: no ref leads to it.
        """
        if self.ids(own=False, started=True):
            return
        anchor = self.anchor(snapshot_id)
        if anchor is None:
            raise SnapshotMissingError(snapshot_id, str(self._store))
        self._prepare(self._starts)
        name = self._store / self._starts / snapshot_id
        write_durably(name, f"{anchor}\n".encode(), mode=0o644)

    def keep_included(self, snapshot_id: str, anchor: str) -> None:
        """Keeps a snapshot for an apply, durably, in place of the one for an earlier apply."""
        for old in self.ids(own=False, included=True):
            self._git.run("update-ref", "-d", f"{self._included}/{old}")
        self._prepare(self._included)
        name = self._store / self._included / snapshot_id
        write_durably(name, f"{anchor}\n".encode(), mode=0o644)

    def prepare(self) -> None:
        """Makes the directory of the refs, durably, so that the first snapshot need not."""
        self._prepare(self._place)

    def write(self, snapshot_id: str, anchor: str) -> None:
        """Makes the ref, durably."""
        path, content = f"{self._store}/{self.name(snapshot_id)}", f"{anchor}\n".encode()
        if self._spare is not None and overwrite_durably(self._spare, path, content):
            self._spare = None
            return
        try:
            write_durably(Path(path), content, mode=0o644)
        except FileNotFoundError:  # It is the first one.
            self._prepare(self._place)
            write_durably(Path(path), content, mode=0o644)

    def inherit(self, snapshot_id: str, source: SandboxRef) -> str:
        """Keeps a snapshot of another sandbox of the store, durably; returns the ref that does.

        Raises:
            SnapshotMissingError: no ref leads to it.
        """
        name = self._inherited_name(snapshot_id)
        of_source = SnapshotRefs(source, self._git)
        anchor = of_source.anchor(snapshot_id) or self.anchor(snapshot_id)
        if anchor is None:
            raise SnapshotMissingError(snapshot_id, str(self._store))
        self._prepare(self._forked)
        write_durably(self._store / name, f"{anchor}\n".encode(), mode=0o644)
        return name

    def disown(self) -> None:
        """Removes the refs of a sandbox that was not created: what it would have started from."""
        names = [self.base, *map(self._inherited_name, self.ids(own=False, inherited=True))]
        if self._branch is not None:
            names.append(f"refs/heads/{self._branch}")
            (self._store / "logs" / names[-1]).unlink(missing_ok=True)
        commands = [f"delete {name}\n" for name in names if self.has(name)]
        if commands:
            self._git.run("update-ref", "--stdin", stdin="".join(commands).encode())

    def _prepare(self, place: str) -> None:
        """Makes a directory of refs, durably with every directory above it that was missing."""
        directory = self._store / place
        if directory.is_dir():
            return
        missing = [directory]
        while not missing[-1].parent.is_dir():
            missing.append(missing[-1].parent)
        directory.mkdir(parents=True, exist_ok=True)
        for made in reversed(missing):
            fsync_directory(made.parent)

    def delete(self, snapshot_ids: Iterable[str]) -> None:
        """Removes refs; git is needed only for those that are packed with others.

        Raises:
            SnapshotError: the file system or git refused it.
        """
        packed = self._packed()
        commands: list[str] = []
        for snapshot in snapshot_ids:
            name = self.name(snapshot)
            if f" {name}\n".encode() in packed:
                commands.append(f"delete {name}\n")
            else:
                try:
                    self._drop(f"{self._store}/{name}")
                except OSError as error:
                    raise SnapshotError(
                        f"The snapshot {snapshot} could not be deleted: {error.strerror}",
                        hint="Give yourself permission to change the private repository",
                        store=str(self._store),
                    ) from error
        if commands:
            self._git.run("update-ref", "--stdin", stdin="".join(commands).encode())

    def _drop(self, path: str) -> None:
        # Checkpoints come and go, and some file systems are slow at making and removing files:
        # so the file of a dropped ref is set aside, and becomes the next ref.
        with suppress(FileNotFoundError):
            if self._spare is not None:
                os.unlink(path)
                return
            spare = draft_beside(path)
            os.rename(path, spare)
            self._spare = spare

    def _packed(self) -> bytes:
        try:
            with open(f"{self._store}/packed-refs", "rb", buffering=0) as packed:
                return packed.read()
        except FileNotFoundError:
            return b""


@contextmanager
def mirror_use(store: Path) -> Generator[None]:
    """Says that this process uses a mirror, for as long as the block runs.

    While one of these blocks runs anywhere, nothing is taken out of the mirror but what its
    owner drops by name. One that begins while a collection runs waits for its end. Ending the
    block is harmless in a process that was forked meanwhile.

    Raises:
        ConflictError: a collection takes too long.
    """
    place = store.with_suffix(_USE)
    with lock_file(place) as descriptor:
        wait_for_lock(descriptor, place, fcntl.LOCK_SH)
        yield


@contextmanager
def alone(store: Path) -> Generator[bool]:
    """Yields whether nobody uses or refreshes the store; nobody can begin before the block ends.

    Never waits. A `mirror_use` inside the block, in this process too, would never end.
    """
    with ExitStack() as held:
        places = (store.with_suffix(_USE), store.with_suffix(".lock"))
        yield all(held.enter_context(_held(place)) for place in places)


@contextmanager
def _held(place: Path) -> Generator[bool]:
    with lock_file(place) as descriptor:
        if not take_lock(descriptor, fcntl.LOCK_EX):
            yield False
            return
        with signed(descriptor):
            yield True
