"""The world of one scenario: a temporary directory, a clean environment, and `agents`.

`agents` runs in this process, which is fast and measured; with `behave -D runner=process`
each call is a process of its own, as it is for a user.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from unittest.mock import patch

from cleveragents.cli.main import main

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"


@dataclass(frozen=True)
class Outcome:
    """How one call ended."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)


class Stream(io.TextIOWrapper):
    """A standard stream in memory that can pass for a terminal."""

    def __init__(self, content: str, *, terminal: bool) -> None:
        super().__init__(io.BytesIO(content.encode()), encoding="utf-8", newline="")
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def text(self) -> str:
        self.flush()
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode()


class World:
    """What a scenario has: `directory` for anything, `project` to work in, `home` for state."""

    def __init__(self, runner: str, length: int = 0) -> None:
        """Makes the directory; its path has at least `length` characters, for screens."""
        self.runner = runner
        usual = len(tempfile.gettempdir()) + len("/cleveragents-") + 8
        prefix = f"cleveragents-{'x' * (length - usual)}"
        self.directory = Path(tempfile.mkdtemp(prefix=prefix)).resolve()
        self.home = self.directory / "home"
        self.project = self.directory / "project"
        self.project.mkdir()
        self.at_terminal = False
        """Whether the user sits before a terminal; such calls are made in this process."""
        self.environment = _clean_environment(self.directory, self.home)
        self.outcome: Outcome | None = None
        self.on_close = contextlib.ExitStack()
        """What has to end before the directory can go: processes, mounts."""

    def close(self) -> None:
        self.on_close.close()
        # Not with Python's functions, which are recursive: a scenario may leave a deep directory.
        subprocess.run(["chmod", "-R", "u+rwX", "--", self.directory], check=False)
        subprocess.run(["rm", "-rf", "--", self.directory], check=True)

    @property
    def with_features(self) -> dict[str, str]:
        """The environment of a process of ours that runs what is in `features`."""
        return self.environment | {"PYTHONPATH": f"{ROOT}{os.pathsep}{SOURCE}"}

    @property
    def last(self) -> Outcome:
        """How the last call ended."""
        assert self.outcome is not None, "agents has not been called"
        return self.outcome

    def agents(
        self,
        *args: str,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Outcome:
        """Runs `agents` in the project, and remembers the outcome as `last`."""
        if self.runner == "process" and not self.at_terminal:
            return self.process_agents(*args, stdin=stdin, env=env, cwd=cwd)
        return self.agents_here(*args, stdin=stdin, env=env, cwd=cwd)

    def agents_here(
        self,
        *args: str,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Outcome:
        """Like `agents`, always in this process."""
        given = Stream(stdin or "", terminal=self.at_terminal)
        out, err = (Stream("", terminal=self.at_terminal) for _ in range(2))
        with (
            patch.dict(os.environ, {**self.environment, **(env or {})}, clear=True),
            contextlib.chdir(cwd or self.project),
            patch.object(sys, "stdin", given),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            exit_code = main(list(args))
        self.outcome = Outcome(exit_code, out.text(), err.text())
        return self.outcome

    def process_agents(
        self,
        *args: str,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdout: IO[bytes] | int = subprocess.PIPE,
        script: str = 'exec "$@"',
    ) -> Outcome:
        """Like `agents`, always in a process of its own, which a shell script may start."""
        done = subprocess.run(
            ["/bin/sh", "-c", script, "sh", sys.executable, "-m", "cleveragents", *args],
            input=(stdin or "").encode(),
            env={**self.environment, **(env or {})},
            cwd=cwd or self.project,
            stdout=stdout,
            stderr=subprocess.PIPE,
            check=False,
        )
        texts = (
            (said or b"").decode(errors="backslashreplace") for said in (done.stdout, done.stderr)
        )
        self.outcome = Outcome(done.returncode, *texts)
        return self.outcome

    def python(self, program: str) -> Outcome:
        """Runs a Python program in a process of its own."""
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=self.environment,
            cwd=self.project,
            capture_output=True,
            text=True,
            check=False,
        )
        self.outcome = Outcome(done.returncode, done.stdout, done.stderr)
        return self.outcome

    @contextlib.contextmanager
    def gone_reader(self) -> Iterator[int]:
        """Gives the writing end of a pipe whose reader has gone away."""
        reader, writer = os.pipe()
        os.close(reader)
        try:
            yield writer
        finally:
            os.close(writer)


def _clean_environment(directory: Path, home: Path) -> dict[str, str]:
    """Nothing of the developer's own, except what finds programs and measures coverage.

    Processes import the package that lies beside these features, wherever another is installed.
    """
    measured = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
    return {
        **measured,
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(SOURCE),
        "HOME": str(directory),
        "CLEVERAGENTS_HOME": str(home),
        "LANG": "C.UTF-8",
        "TERM": "xterm",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
