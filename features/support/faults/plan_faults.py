"""What can happen to a plan's rollback, records and sandbox, by the words the features use."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from behave.runner import Context
from features.support.plans import Plans
from msgspec.structs import replace

from cleveragents.domain.errors import DatabaseError, SnapshotError
from cleveragents.infrastructure.database.repositories import (
    OperationRepository,
    ToolCallRepository,
)
from cleveragents.infrastructure.sandbox.files.sandbox import FileSandbox

HOST = socket.gethostname()
_GAVE_UP = "The disk gave up"
_HINT = "Get another disk"


def install(context: Context, fault: AbstractContextManager[Any]) -> None:
    """Lets a fault wait for the rest of the scenario."""
    fault.__enter__()
    context.add_cleanup(fault.__exit__, None, None, None)


@contextmanager
def at_call(owner: type, method: str, number: int, act: Callable[..., Any]) -> Iterator[None]:
    """Has the `number`-th call of a method do something else, given the real one."""
    real: Callable[..., Any] = getattr(owner, method)
    calls = iter(range(1, 1_000_000))

    def called(*arguments: Any, **options: Any) -> Any:
        if next(calls) == number:
            return act(lambda: real(*arguments, **options))
        return real(*arguments, **options)

    with patch.object(owner, method, called):
        yield


def raising(error: BaseException) -> Callable[..., Any]:
    """Has a call fail."""

    def act(_: Callable[[], Any]) -> Any:
        raise error

    return act


def failing_rollback(stage: str) -> AbstractContextManager[None]:
    def found_wrong(real: Callable[[], Any]) -> Any:
        return replace(real(), differences=("docs.txt should be removed",))

    stages: dict[str, Callable[[], AbstractContextManager[None]]] = {
        "restoring the second sandbox": lambda: at_call(
            FileSandbox, "restore", 2, raising(SnapshotError(_GAVE_UP, hint=_HINT))
        ),
        "comparing the second sandbox": lambda: at_call(FileSandbox, "restore", 2, found_wrong),
        "recording it": lambda: at_call(
            OperationRepository, "save", 1, raising(DatabaseError(_GAVE_UP, hint=_HINT))
        ),
    }
    return stages[stage]()


def failing_look(number: int) -> AbstractContextManager[None]:
    """The `number`-th snapshot of a sandbox cannot be taken."""
    error = SnapshotError(_GAVE_UP, hint=_HINT)
    return at_call(FileSandbox, "snapshot", number, raising(error))


def interrupted_rollback() -> AbstractContextManager[None]:
    return at_call(FileSandbox, "restore", 2, raising(KeyboardInterrupt()))


@contextmanager
def hopeless_rollback() -> Iterator[None]:
    """Neither restoring nor putting back works."""
    error = SnapshotError(_GAVE_UP, hint=_HINT)
    with patch.object(FileSandbox, "restore", side_effect=error):
        yield


def failing_second_call() -> AbstractContextManager[None]:
    """The records of the second tool call cannot be written."""
    return at_call(ToolCallRepository, "add", 2, raising(DatabaseError(_GAVE_UP, hint=_HINT)))


def hold(plans: Plans, process: int, host: str, *, expires_at: str = "2999-01-01") -> None:
    """Has a process hold the plan that is not known to this home, whether it exists or not."""
    plans.query("DELETE FROM locks WHERE resource_id = ?", plans.plan_id)
    plans.query(
        "INSERT INTO locks (resource_type, resource_id, owner_id, fencing, host, process_id,"
        " process_started, command, acquired_at, expires_at, released)"
        " VALUES ('plan', ?, 'somebody', 7, ?, ?, '1', 'agents plan execute', ?, ?, 0)",
        plans.plan_id,
        host,
        process,
        "2001-01-01T00:00:00.000000+00:00",
        f"{expires_at}T00:00:00.000000+00:00",
    )


def presence(plans: Plans) -> Path:
    """Makes the file that the holder of `hold` locks while it runs."""
    place = plans.world.home / "run" / "somebody.process"
    place.parent.mkdir(exist_ok=True)
    place.touch()
    return place


def blob_of(plans: Plans, commit: str, path: str) -> str:
    return _git(plans, "rev-parse", f"{commit}:{path}")


def lose(plans: Plans, name: str) -> None:
    """Takes one object out of the mirror."""
    _loose(plans, name).unlink()


def alter(plans: Plans, name: str) -> None:
    """Puts other bytes in the place of one object of the mirror."""
    path = _loose(plans, name)
    path.unlink()  # The file may be a link to the user's own.
    path.write_bytes(zlib.compress(b"blob 6\0other\n"))


def _loose(plans: Plans, name: str) -> Path:
    """Returns the file of an object, after every pack was taken apart."""
    packs = plans.mirror / "objects" / "pack"
    aside = plans.world.directory / "packs"
    if list(packs.glob("*.pack")):
        packs.rename(aside)
        packs.mkdir()
        for pack in aside.glob("*.pack"):
            with pack.open("rb") as stream:
                command = ["git", "unpack-objects", "-q"]
                subprocess.run(command, cwd=plans.mirror, stdin=stream, check=True)
        shutil.rmtree(aside)
    return plans.mirror / "objects" / name[:2] / name[2:]


def _git(plans: Plans, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=plans.mirror, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _set_state(phase: str, state: str) -> Callable[[Plans], None]:
    def act(plans: Plans) -> None:
        plans.query(
            "UPDATE plans SET phase = ?, state = ? WHERE plan_id = ?", phase, state, plans.plan_id
        )

    return act


def _replace_sandbox(make: Callable[[Path], object]) -> Callable[[Plans], None]:
    def act(plans: Plans) -> None:
        shutil.rmtree(plans.sandbox)
        make(plans.sandbox)

    return act


def _another_directory(sandbox: Path) -> None:
    other = sandbox.parent.parent / "other"
    other.mkdir()
    (other / "precious").write_text("keep me\n")
    sandbox.symlink_to(other)


def _nobody_knows(plans: Plans) -> None:
    (known,) = (plans.mirror / "worktrees").glob(f"{plans.plan_id}*")
    shutil.rmtree(known)
    # The other directory is made first: it must not get the same inode number.
    other = plans.sandbox.with_name("other")
    other.mkdir()
    (other / "precious").write_text("keep me\n")
    shutil.rmtree(plans.sandbox)
    other.rename(plans.sandbox)


PLAN_STATES: dict[str, Callable[[Plans], None]] = {
    "the plan is applied": _set_state("apply", "applied"),
    "the sandbox is deleted": _replace_sandbox(lambda _: None),
    "the sandbox is a link to another directory": _replace_sandbox(_another_directory),
    "the sandbox is a file": _replace_sandbox(lambda place: place.write_text("a file\n")),
    "the sandbox is an unknown directory": _nobody_knows,
    "a living process holds the plan": lambda plans: hold(plans, os.getpid(), HOST),
}
