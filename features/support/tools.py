"""A sandbox with something outside it, and tools that run there."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from unittest.mock import patch

from behave.runner import Context
from features.support.clocks import has_content, wait_until
from features.support.values import plain

from cleveragents.application.ports.tools import ToolBackend
from cleveragents.domain.errors import ExecutionError
from cleveragents.domain.record import JsonValue
from cleveragents.domain.tools.tool import (
    ParameterType,
    ToolInvocation,
    ToolParameter,
    ToolResult,
    ToolSpec,
    validate_input,
)
from cleveragents.infrastructure.system import SignalInterruption
from cleveragents.infrastructure.tools.files import walk
from cleveragents.infrastructure.tools.process import leftover_processes as processes
from cleveragents.infrastructure.tools.registry import Tools
from cleveragents.testing.events import NoEvents

SECRET = "secret\n"


class Interrupted(Exception):
    """Stands for what a signal handler raises."""


class Workbench:
    """A sandbox, `outside/secret.txt` beside it, and the outcome of the last tool."""

    def __init__(self, directory: Path, environment: Mapping[str, str]) -> None:
        self.sandbox = directory / "sandbox"
        self.sandbox.mkdir()
        self.outside = directory / "outside"
        self.outside.mkdir()
        (self.outside / "secret.txt").write_text(SECRET)
        self.environment = dict(environment)
        self.resources = {"project": str(self.sandbox), "my-site": str(self.outside)}
        self.plan_id: str | None = None
        self.database: Path | None = None
        self.other_tools: ToolBackend | None = None
        self.interruption = SignalInterruption()
        self.events = NoEvents()
        self.result: ToolResult | None = None
        self.error: ExecutionError | None = None
        self.memory = 0
        """How much was needed at once while memory was watched."""
        self.before: dict[str, tuple[int, bytes]] = {}

    @property
    def tools(self) -> ToolBackend:
        return self.other_tools or Tools(self.environment, self.interruption, self.events)

    def run(self, name: str, given: dict[str, JsonValue]) -> None:
        self.run_spec(self.tools.specs()[name], given)

    def run_spec(self, spec: ToolSpec, given: dict[str, JsonValue]) -> None:
        """Runs a tool, and remembers how it ended."""
        self.before = self.tree()
        call = ToolInvocation(
            spec=spec,
            input={name: self.placed(value) for name, value in given.items()},
            directory=str(self.sandbox),
            resources=self.resources,
            plan_id=self.plan_id,
            database=None if self.database is None else str(self.database),
        )
        try:
            # As the tool runner does it.
            for problem in validate_input(spec, call.input):
                raise ExecutionError(problem.message, hint=problem.hint, tool=spec.name)
            self.result = self.tools.run(call)
        except ExecutionError as error:
            self.error = error

    def run_watched(self, command: str) -> None:
        tracemalloc.start()
        try:
            self.run("shell", {"command": command})
            self.memory = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    def marked(self) -> list[int]:
        """The processes whose environment names this sandbox."""
        mark = f"CLEVERAGENTS_RESOURCE_PROJECT={self.sandbox}".encode()
        return [
            number
            for number in processes._table()
            if mark in (processes._environment(number) or set())
        ]

    def run_plan_tool(self, command: str, given: dict[str, JsonValue]) -> None:
        parameters = {
            name: ToolParameter(type=ParameterType.STRING, description="") for name in given
        }
        spec = ToolSpec(name="my-tool", parameters=parameters, writes=True, run=command)
        self.run_spec(spec, given)

    def placed(self, value: JsonValue) -> JsonValue:
        """Puts real directories where a scenario says SANDBOX and OUTSIDE."""
        if not isinstance(value, str):
            return value
        return value.replace("SANDBOX", str(self.sandbox)).replace("OUTSIDE", str(self.outside))

    def file(self, path: str) -> Path:
        return self.sandbox / path

    def make(self, kind: str, path: str, content: str) -> None:
        """Makes a file, a directory or a symlink, whose content is its target."""
        place = self.file(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        match kind:
            case "file":
                place.write_bytes(plain(content).encode())
            case "directory":
                place.mkdir()
            case "symlink":
                place.symlink_to(str(self.placed(content)))
            case "pipe":
                os.mkfifo(place)
            case "binary":
                place.write_bytes(bytes.fromhex(content))
            case _:
                raise AssertionError(kind)

    def tree(self) -> dict[str, tuple[int, bytes]]:
        """Everything in the sandbox and outside it: mode, and content or target."""
        root = self.sandbox.parent
        return {
            str(path.relative_to(root)): (path.lstat().st_mode, _content(path))
            for top in (self.sandbox, self.outside)
            if top.exists()
            for path in [top, *sorted(top.rglob("*"))]
        }

    @property
    def output(self) -> str:
        assert self.error is None, self.error
        assert self.result is not None
        return self.result.output

    @property
    def failure(self) -> ExecutionError:
        assert self.error is not None, f"the tool succeeded: {self.result}"
        return self.error

    def mode(self, path: str) -> str:
        return f"{stat.S_IMODE(self.file(path).lstat().st_mode):04o}"

    def interrupt(self, command: str) -> None:
        """Raises in the middle of a command that writes pid.txt, as a signal handler would."""

        def stop(number: int, frame: object) -> None:
            raise Interrupted

        old = signal.signal(signal.SIGUSR1, stop)
        thread = threading.Thread(target=self._signal_when_written)
        thread.start()
        try:
            self.run("shell", {"command": command})
        except Interrupted:
            self.result = ToolResult(output="interrupted")
        finally:
            thread.join()
            signal.signal(signal.SIGUSR1, old)

    def _signal_when_written(self) -> None:
        wait_until(lambda: has_content(self.file("pid.txt")))
        os.kill(os.getpid(), signal.SIGUSR1)

    def alive(self) -> bool:
        """Says whether a process whose id is in a file `*pid.txt` still runs."""
        files = list(self.outside.parent.rglob("*pid.txt"))
        assert files
        return any(is_alive(file.read_text()) for file in files)


def is_alive(number: str) -> bool:
    """Says whether there is such a process, and it is more than an entry in the table."""
    assert number.strip().isdecimal(), number
    try:
        status = Path("/proc", number.strip(), "stat").read_bytes()
    except FileNotFoundError:
        return False
    return status.rpartition(b")")[2].split()[0] != b"Z"


def bench_of(context: Context) -> Workbench:
    """The sandbox of the scenario, made when it is first asked for."""
    if "bench" not in context:
        context.bench = Workbench(context.world.directory, context.world.environment)
    return context.bench


def _content(path: Path) -> bytes:
    if path.is_symlink():
        return os.fsencode(path.readlink())
    return path.read_bytes() if path.is_file() else b""


@contextmanager
def without_proc() -> Iterator[None]:
    """A system without /proc, where only a process group can be asked."""
    with patch.object(processes, "_PROC", Path("/nonexistent")):
        yield


@contextmanager
def full_disk() -> Iterator[None]:
    """Lets no file of this process grow beyond a few bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@contextmanager
def raises_validation_error() -> Iterator[list[str]]:
    """Gives the messages of what must be refused."""
    messages: list[str] = []
    try:
        yield messages
    except ValueError as error:
        messages.append(str(error))


def ended_group() -> tuple[Callable[[], int], subprocess.Popen[bytes]]:
    """Starts a process in a session of its own; gives what ends that session."""
    child = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True
    )
    threading.Thread(target=child.wait, daemon=True).start()
    return lambda: processes.end_call(child.pid, processes.start_of(child.pid), "none"), child


def ended_while_ending(directory: Path) -> int:
    """Looks at a process table with an entry whose process has just gone."""
    for name in ("self", "123"):
        (directory / "proc" / name).mkdir(parents=True)
    with patch.object(processes, "_PROC", directory / "proc"):
        return processes.end_call(123, 0, "none")


def problems_with(kind: str, value: JsonValue) -> list[str]:
    """What a tool says of a value for its only input; numbers are from 0 to 1, texts not empty."""
    number = kind != "list"
    parameter = ToolParameter(
        type=ParameterType(kind),
        description="",
        pattern=None if number else ".+",
        minimum=0 if number else None,
        maximum=1 if number else None,
    )
    spec = ToolSpec(name="my-tool", parameters={"value": parameter})
    return [problem.message for problem in validate_input(spec, {"value": value})]


def refuse_directory_renames() -> Callable[[], None]:
    """Makes renaming a directory fail as overlayfs does; gives what takes that back."""
    real = os.rename

    def rename(source: str, target: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        if stat.S_ISDIR(os.stat(source, dir_fd=src_dir_fd, follow_symlinks=False).st_mode):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        real(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    patcher = patch.object(os, "rename", rename)
    patcher.start()
    return patcher.stop


def surround_with_hostile_repository(bench: Workbench) -> None:
    """Makes the directory above the sandbox a repository that would change what is written."""
    above = bench.sandbox.parent
    mark = f"touch {bench.outside}/program-has-run; cat"
    settings = {
        "filter.evil.clean": mark,
        "filter.evil.smudge": mark,
        "apply.whitespace": "fix",
        "core.autocrlf": "true",
        "core.fsmonitor": mark,
    }
    subprocess.run(["git", "init", "-q", above], check=True)
    for name, value in settings.items():
        subprocess.run(["git", "-C", above, "config", name, value], check=True)
    for place in (above, bench.sandbox):
        (place / ".gitattributes").write_text("* text eol=crlf ident filter=evil\n")


def vanish_after_first_look(directory: Path) -> Callable[[], None]:
    """Removes a directory once its parent has been listed; gives what takes that back."""
    real = walk._children

    def children(top: int, parts: tuple[str, ...]) -> list[walk.Entry]:
        found = real(top, parts)
        if not parts:
            shutil.rmtree(directory)
        return found

    patcher = patch.object(walk, "_children", children)
    patcher.start()
    return patcher.stop


def make_database(place: Path, script: str, *, write_ahead: bool = False) -> None:
    with closing(sqlite3.connect(place)) as connection:
        connection.execute(f"PRAGMA journal_mode={'wal' if write_ahead else 'delete'}")
        connection.executescript(script)


def ask_database(place: Path, query: str) -> list[list[str]]:
    with closing(sqlite3.connect(place)) as connection:
        return [[str(value) for value in row] for row in connection.execute(query)]


def lock_database(place: Path) -> Callable[[], None]:
    """Begins a transaction as another program would; gives what ends it."""
    connection = sqlite3.connect(place, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    return connection.close
