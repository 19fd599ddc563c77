"""A disk that loses its power, and a record of what was synced, in which order."""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

from features.support.world import World

from cleveragents.infrastructure import files

_SHUTDOWN = 0x8004587D
"""EXT4_IOC_SHUTDOWN"""
_WITHOUT_FLUSHING = 2


class CutOffDisk:
    """An ext4 file system in a file, whose power can be cut; the home directory is on it."""

    def __init__(self, world: World) -> None:
        self._image = world.directory / "disk.img"
        self._place = world.directory / "disk"
        self._place.mkdir()
        with self._image.open("wb") as image:
            image.truncate(256 << 20)
        _run("mkfs.ext4", "-q", str(self._image))
        self._mount()
        world.on_close.callback(lambda: _run("umount", str(self._place)))
        world.home = self._place / "home"
        world.environment["CLEVERAGENTS_HOME"] = str(world.home)

    def cut(self) -> None:
        """Loses everything that was not synced, and mounts what is left."""
        descriptor = os.open(self._place, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, _SHUTDOWN, struct.pack("I", _WITHOUT_FLUSHING))
        finally:
            os.close(descriptor)
        _run("umount", str(self._place))
        # Another process with mounts of its own may still have the old one, which stays dead.
        after = self._image.with_name("disk-after.img")
        _run("cp", "--sparse=always", str(self._image), str(after))
        self._image = after
        self._mount()

    def _mount(self) -> None:
        # The system would write its journal every five seconds by itself.
        _run("mount", "-o", "loop,commit=1000", str(self._image), str(self._place))


def why_not() -> str | None:
    """Returns why no power can be cut here, or None."""
    if os.geteuid() != 0:
        return "only root can mount a disk"
    if shutil.which("mkfs.ext4") is None:
        return "there is no mkfs.ext4"
    if not Path("/dev/loop-control").exists():
        return "there are no loop devices"
    return None


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


class SyncLog:
    """What was synced and renamed, oldest first."""

    def __init__(self) -> None:
        self.acts: list[str] = []

    @contextmanager
    def noting(self) -> Iterator[None]:
        fsync, replace, flush = os.fsync, os.replace, files.sync_file_system

        def note_fsync(descriptor: int) -> None:
            self.acts.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
            fsync(descriptor)

        def note_replace(source: str | Path, target: str | Path) -> None:
            replace(source, target)
            self.acts.append(f"named {target}")

        def note_flush(descriptor: int) -> None:
            self.acts.append("everything")
            flush(descriptor)

        with ExitStack() as patches:
            patches.enter_context(patch.object(os, "fsync", note_fsync))
            patches.enter_context(patch.object(os, "replace", note_replace))
            patches.enter_context(patch.object(files, "sync_file_system", note_flush))
            yield

    def position(self, act: str) -> int:
        assert act in self.acts, (act, self.acts)
        return self.acts.index(act)
