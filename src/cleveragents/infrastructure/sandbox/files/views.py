"""Private views: a project that one process and its children see with changes of their own.

The directory of a sandbox holds its *layer*: `upper` has what was written, `work` belongs to the
kernel, `project` names the real project. Two places are mounted in the namespace of whoever
uses the sandbox: at `lower` the real project, read-only, and at `view` the project as the
sandbox has it. A command sees `view` at the project's own path too. Other processes see empty
directories and the real project.

A layer is mounted once. Whoever mounts it holds the lock of the layer, and one that is still
mounted somewhere is joined: two mounts of one layer would damage it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from cleveragents.domain.errors import ConflictError, SandboxMissingError, ViewUnavailableError
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.infrastructure.files import write_durably
from cleveragents.infrastructure.sandbox.files.namespaces import (
    NamespaceError,
    copy_of_mounts,
    join,
    own_mounts,
    rest_privileges,
    take_up_privileges,
    with_other_mounts,
)
from cleveragents.infrastructure.sandbox.files.overlay_mounts import (
    bind,
    is_overlay,
    keep_mounts_private,
    make_read_only,
    mount_view,
    mounts_below,
    uncover,
)

VIEW = "view"
UPPER = "upper"
WORK = "work"
LOWER = "lower"
_PROJECT = "project"
"""A file that names the real project; written last, so it tells a finished layer."""
_LOCK = "lock"
_refused: list[ViewUnavailableError] = []
"""Why this process could not have mounts of its own when it tried first."""
_has_own_mounts: list[int] = []
"""The process that got mounts of its own here: a child that was forked since has them too."""
_locks: dict[Path, int] = {}
"""The locks of the layers that this process has mounted; they are held until it ends."""


class Layer:
    """The directory of a private view on disk."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.upper = place / UPPER
        self.work = place / WORK
        self.lower = place / LOWER
        self.view = place / VIEW

    @staticmethod
    def of(sandbox: SandboxRef) -> Layer:
        return Layer(Path(sandbox.path).parent)

    def make(self, project: Path) -> None:
        """Makes a layer without changes."""
        for directory in (self.upper, self.work, self.lower, self.view):
            directory.mkdir(mode=0o700, parents=True)
        # The top of a view has the mode of the upper layer's top.
        os.chmod(self.upper, project.stat().st_mode & 0o7777)
        write_durably(self.place / _PROJECT, os.fsencode(project))

    @property
    def project(self) -> Path:
        """The real project. Raises OSError if the layer is not whole."""
        return Path(os.fsdecode((self.place / _PROJECT).read_bytes()))

    @property
    def made_at(self) -> int:
        """When the layer was made, in nanoseconds of its file system."""
        return os.stat(self.place / _PROJECT).st_mtime_ns

    @property
    def is_whole(self) -> bool:
        return (self.place / _PROJECT).is_file() and self.upper.is_dir() and self.work.is_dir()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever changed in the view."""
        with os.scandir(self.upper) as entries:
            return next(entries, None) is None


def prepare() -> None:
    """Gives this process mounts of its own, once. MUST come before its first thread.

    Raises:
        ViewUnavailableError: it has threads, or the system does not permit it.
    """
    if os.getpid() in _has_own_mounts:
        return
    if _refused:
        raise _refused[0]
    try:
        own_mounts()
        keep_mounts_private()
    except NamespaceError as error:
        _refused.append(ViewUnavailableError(error.reason))
        raise _refused[0] from error
    except OSError as error:
        raise ViewUnavailableError(f"mounts cannot be made private: {error.strerror}") from error
    _has_own_mounts.append(os.getpid())


def enter(sandbox: SandboxRef) -> None:
    """Lets this process and its children see a private view at the sandbox's path.

    The project's own path stays the real project.

    Raises:
        SandboxMissingError: the layer is gone.
        ViewUnavailableError: the system does not permit it, or this process has threads.
        ConflictError: another process is about to mount it.
    """
    layer = Layer.of(sandbox)
    if not layer.is_whole or not layer.view.is_dir():
        raise SandboxMissingError(sandbox.path, "is missing")
    if not is_overlay(layer.view):
        _lock(layer)
        living = _user_of(layer)
        if living is not None:
            _join(layer, living)
        else:
            if layer.place not in _locks:
                raise ConflictError(
                    f"Another process is about to use the private view {sandbox.path}",
                    hint="Try again when it has ended",
                    path=sandbox.path,
                )
            prepare()
            _mount(layer)
    with suppress(NamespaceError):
        rest_privileges()


def show_at_project(sandbox: SandboxRef, process: int) -> None:
    """Shows a view at the project's path, to this process and its children alone.

    Meant for the child that becomes the command. It keeps the view alive, also when the process
    that mounted it has ended.

    Args:
        sandbox: The sandbox.
        process: A process that has entered the view.

    Raises:
        OSError: the system does not permit it.
    """
    layer = Layer.of(sandbox)
    try:
        if process != os.getpid():
            join(process)
        copy_of_mounts()
    except NamespaceError as error:
        raise OSError(error.number, error.reason) from error
    keep_mounts_private()
    bind(layer.view, layer.project)


@contextmanager
def unused(place: Path) -> Generator[None]:
    """Keeps others from mounting a layer while the block removes it.

    Raises:
        ConflictError: a process still uses the view.
    """
    layer = Layer(place)
    for mounted in mounts_below(place):
        uncover(Path(mounted))
    if mounts_below(place):  # Through a mount, one would remove the project.
        raise ConflictError(f"The private view {layer.view} cannot be unmounted")
    living = _user_of(layer)
    if living is not None:
        raise ConflictError(
            f"The private view {layer.view} is in use by the process {living}",
            hint="End it, then try again",
            path=str(layer.view),
            process=living,
        )
    held = _locks.pop(place, None)
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def _mount(layer: Layer) -> None:
    project = layer.project
    try:
        take_up_privileges()
        bind(project, layer.lower)
        make_read_only(layer.lower)
        mount_view(layer.lower, layer.upper, layer.work, layer.view)
    except NamespaceError as error:
        raise ViewUnavailableError(error.reason) from error
    except OSError as error:
        with suppress(OSError):
            uncover(layer.lower)
        raise ViewUnavailableError(f"the view cannot be mounted: {error.strerror}") from error


def _join(layer: Layer, process: int) -> None:
    """Uses the mount of another process, in mounts of its own where the project is the real one."""
    try:
        join(process)
        copy_of_mounts()
        keep_mounts_private()
        if is_overlay(layer.project):
            uncover(layer.project)
    except NamespaceError as error:
        raise ViewUnavailableError(error.reason) from error
    except OSError as error:
        raise ViewUnavailableError(f"the view cannot be joined: {error.strerror}") from error
    if os.getpid() not in _has_own_mounts:
        _has_own_mounts.append(os.getpid())
    if not is_overlay(layer.view):
        raise ViewUnavailableError(f"the process {process} ended meanwhile")


def _lock(layer: Layer) -> None:
    """Takes the lock of a layer unless another process has it."""
    if layer.place in _locks:
        return
    descriptor = os.open(layer.place / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return
    _locks[layer.place] = descriptor


def _user_of(layer: Layer) -> int | None:
    for process in with_other_mounts():
        with suppress(OSError):
            if is_overlay(layer.view, str(process)):
                return process
    return None
