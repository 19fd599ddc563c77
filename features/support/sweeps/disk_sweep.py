"""A command on a disk that fills: at each page that it writes in turn, or at a fault point.

The disk is a tmpfs or an image with ext4, filled by a file that leaves some pages free, or by
empty files that leave some inodes free. With one more each time, the next write that needs one
is the first that fails.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from behave.runner import Context
from features.support.faults.crash import measure_nothing
from features.support.plans import Plans
from features.support.sweeps import fault_sweep as faults
from features.support.world import Outcome

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.system import FaultPoints
from cleveragents.cli import main
from cleveragents.container import Container
from cleveragents.domain.errors import NoSpaceError
from cleveragents.infrastructure.sandbox.store import snapshots

BALLAST = "ballast"
_BUG, _DAMAGED = 70, 7
_LEFT_OPEN = "could not be undone"
_FINISHED = "nothing to undo"
"""What a second undo says if its process has finished the first one."""
_SIZE = "64M"
_INODES = 4000


def mounted(context: Context, place: Path, kind: str) -> bool:
    """Puts a small disk at a place until the scenario ends; what is there moves onto it."""
    aside = context.world.directory / f"aside-{place.name}"
    shutil.copytree(place, aside, symlinks=True)
    if kind == "ext4":
        image = context.world.directory / "image"
        commands = [
            ["truncate", "-s", _SIZE, image],
            ["mkfs.ext4", "-q", "-b", "4096", "-m", "0", "-N", str(_INODES), image],
            ["mount", "-o", "loop", image, place],
        ]
    else:
        options = f"size={_SIZE},nr_inodes={_INODES},mode=700"
        commands = [["mount", "-t", "tmpfs", "-o", options, "tmpfs", place]]
    for command in commands:
        if problem := _problem_of(command):
            context.scenario.skip(f"no disk of the kind {kind} can be mounted here: {problem}")
            return False
    context.world.on_close.callback(
        lambda: subprocess.run(["umount", "-l", place], capture_output=True, check=False)
    )
    shutil.copytree(aside, place, symlinks=True, dirs_exist_ok=True)
    shutil.rmtree(aside)
    return True


def _problem_of(command: Sequence[str | Path]) -> str | None:
    if shutil.which(command[0]) is None:
        return f"there is no {command[0]}"
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else None


def fill_inodes(place: Path, ballast: Path, inodes: int) -> None:
    """Leaves so many inodes free on the disk that a place is on."""
    ballast.mkdir()
    for number in range(os.statvfs(place).f_favail - inodes):
        (ballast / str(number)).touch()


def fill(place: Path, ballast: Path, pages: int) -> None:
    """Leaves so many pages free on the disk that a place is on."""
    disk = os.statvfs(place)
    with ballast.open("ab") as stream:
        for own in range(disk.f_bavail):  # ext4 takes some blocks to list those of a file.
            try:
                taken = max(disk.f_bavail - pages - own, 1) * disk.f_frsize
                return os.posix_fallocate(stream.fileno(), 0, taken)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise


class FillingAt(FaultPoints):
    """Fills the disk at a point, and has the command fail there if `fails`."""

    def __init__(self, point: FaultPoint, fill: Callable[[], None], *, fails: bool) -> None:
        self._point, self._fill, self._fails = point, fill, fails
        self._is_full = False

    def reach(self, point: FaultPoint) -> None:
        if point is self._point and not self._is_full:
            self._is_full = True
            self._fill()
            if self._fails:
                raise NoSpaceError("the disk is on fire")


class DiskSweep:
    """One command, always from the same start; `seen` tells all that it may change."""

    def __init__(
        self,
        plans: Plans,
        disk: Path,
        others: Sequence[Path],
        arguments: tuple[str, ...],
        seen: Callable[[], object],
    ) -> None:
        self._plans = plans
        self._disk = disk
        self._places = [disk, *others]
        self._arguments = arguments
        self._seen = seen
        self._ballast = (disk / ".git" if (disk / ".git").is_dir() else disk) / BALLAST
        with self._from_here() as back:
            self.before = seen()
            done = self._run()
            assert done.exit_code == 0, done
            self.after = seen()
            back()

    def at_each(self, unit: str, *, whole: bool) -> list[str]:
        """Tries it with ever more free pages or inodes, until it succeeds; says where each led."""
        found: list[str] = []
        free = 0
        with self._from_here() as back:
            while not found or not found[-1].endswith("at once"):
                found.append(f"{free} {unit}: {self._tried(unit, free)}")
                back()
                free = free + 1 if whole else max(free + 1, free * 3 // 2)
        return found

    def at_each_point(
        self, points: Sequence[FaultPoint], *, fails: bool, may_stop: bool = False
    ) -> list[str]:
        """Fills the disk when the command is at a point, and says where that led.

        `may_stop`: what another process takes while the sandbox changes may be missing to end the
        change or to undo it. Then the command says so, and the next one ends it.
        """
        found: list[str] = []
        with self._from_here() as back:
            for point in points:
                filling = FillingAt(point, lambda: self._fill(0), fails=fails)
                with patch.object(Container, "_faults", filling):
                    done = self._run()
                found.append(f"{point}: {self._led_to(done, may_stop=may_stop)}")
                back()
        return found

    def _tried(self, unit: str, free: int) -> str:
        if unit == "pages":
            self._fill(free)
        else:
            fill_inodes(self._disk, self._ballast, free)
        # What is kept free for other processes may be used up by them at any time.
        with patch.object(snapshots, "_RESERVE", 0):
            done = self._run()
        return self._led_to(done)

    def _led_to(self, done: Outcome, *, may_stop: bool = False) -> str:
        """Frees the disk, checks that nothing is lost, and that the command then succeeds."""
        assert done.exit_code != _BUG and "Traceback" not in done.stderr, (
            done,
            [log.read_text() for log in self._plans.world.home.glob("logs/*")],
        )
        if self._ballast.is_dir():
            shutil.rmtree(self._ballast)
        self._ballast.unlink(missing_ok=True)
        seen = self._seen()
        if seen == self.after:
            faults.check_stores(self._plans)
            return "after" if done.exit_code else "after, at once"
        assert done.exit_code, done
        assert done.exit_code != _DAMAGED, done
        is_between = seen != self.before
        assert not is_between or (may_stop and _LEFT_OPEN in done.stderr), done
        again = self._run()
        assert again.exit_code == 0 or (may_stop and _FINISHED in again.stderr), (done, again)
        assert self._seen() == self.after, (done, again)
        faults.check_stores(self._plans)
        return f"{'between' if is_between else 'before'}, exit {done.exit_code}"

    def _run(self) -> Outcome:
        """Runs the command in a child of this process, so that its end ends its leases."""
        written = self._plans.world.directory / "outcome"
        child = os.fork()
        if child == 0:
            measure_nothing()
            # A full disk that nothing expects would still end with a proper error. Here it is a
            # bug: what meets it must itself say what became of the work.
            main._FULL = ()
            try:
                done = self._plans.world.agents_here(*self._arguments)
                written.write_text(json.dumps([done.exit_code, done.stdout, done.stderr]))
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        assert status == 0, f"it ended with {os.waitstatus_to_exitcode(status)}"
        outcome = Outcome(*json.loads(written.read_text()))
        written.unlink()
        return outcome

    def _fill(self, pages: int) -> None:
        fill(self._disk, self._ballast, pages)

    @contextmanager
    def _from_here(self) -> Iterator[Callable[[], None]]:
        saved = self._plans.world.directory / "saved"
        saved.mkdir()
        for place in self._places:
            _copy(place, saved / place.name)

        def back() -> None:
            for place in self._places:
                _clear(place)
                _copy(saved / place.name, place)

        yield back
        shutil.rmtree(saved)


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)


def _clear(place: Path) -> None:
    """Removes what is in a directory, which may be a disk of its own."""
    for child in place.iterdir():
        if child.is_dir() and not child.is_symlink():
            shutil.rmtree(child)
        else:
            child.unlink()
