"""Processes that run at the same time, here and on a host that exists only in the records."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import yaml
from robot.api.deco import keyword, library
from robot.libraries.BuiltIn import BuiltIn

STEPS = ("one", "two", "three")
NAMES = ("north", "east", "south", "west")
WAIT_SECONDS = 1200


@library(scope="TEST", auto_keywords=False)
class SeveralProcesses:
    """What happens beside the command that a test looks at."""

    def __init__(self) -> None:
        self.plans: dict[str, str] = {}

    @property
    def cli(self) -> Any:
        return BuiltIn().get_library_instance("AgentsCli")

    @keyword("The Run Ends")
    def the_run_ends(self) -> None:
        """Waits for the run that was started, which then is the last command."""
        run = self.cli._run_under_way()
        self.cli.stdout, self.cli.stderr = run.communicate(timeout=WAIT_SECONDS)
        self.cli.exit_code = run.returncode
        self.cli._started = None

    @keyword("A Process Of The Host ${host} Has Taken The Plan Over")
    def taken_over(self, host: str) -> None:
        self._change_lease(host, "2999-01-01")

    @keyword("The Lease Of The Host ${host} Has Ended")
    def lease_ended(self, host: str) -> None:
        self._change_lease(host, "2001-01-01")

    def _change_lease(self, host: str, expires: str) -> None:
        with closing(sqlite3.connect(self.cli.home / "state.db")) as database, database:
            changed = database.execute(
                "UPDATE locks SET owner_id = ?, host = ?, process_id = 1, fencing = fencing + 1,"
                " command = 'agents plan resume', released = 0, expires_at = ?",
                (host, host, f"{expires}T00:00:00.000000+00:00"),
            )
            assert changed.rowcount == 1, changed.rowcount

    @keyword("The Plan Was Held ${count} Times")
    def was_held(self, count: str) -> None:
        with closing(sqlite3.connect(self.cli.home / "state.db")) as database:
            ((fencing,),) = database.execute("SELECT fencing FROM locks").fetchall()
        assert fencing == int(count), fencing

    @keyword("Four Processes Run Plans Of Their Own At The Same Time")
    def run_four(self) -> None:
        files = [self._plan_file(name) for name in NAMES]
        started = [self._start("plan", "run", str(file)) for file in files]
        ended = [process.communicate(timeout=WAIT_SECONDS * 2) for process in started]
        assert [process.returncode for process in started] == [0, 0, 0, 0], ended
        found = [json.loads(said)["data"]["plan_id"] for said, _ in ended]
        self.plans = dict(zip(NAMES, found, strict=True))

    @keyword("Each Checkpoint Brings Back The Files Of Its Own Plan")
    def own_files(self) -> None:
        for name, plan_id in self.plans.items():
            for done in reversed(range(1, len(STEPS) + 1)):
                self._check(name, plan_id, done)

    def _check(self, name: str, plan_id: str, done: int) -> None:
        listed = self._run("plan", "checkpoint", "list", plan_id, "--all")["checkpoints"]
        label = f"after {STEPS[done - 1]}"
        (checkpoint,) = [item for item in listed if item["label"] == label]
        self._run("plan", "rollback", plan_id, checkpoint["checkpoint_id"], "--yes")
        sandbox = Path(checkpoint["filesystem_path"])
        files = {path.name: path.read_text() for path in sandbox.glob("*.txt")}
        own = {f"{name}-{step}.txt": f"{name}\n" for step in STEPS[:done]}
        assert files == {"shared.txt": f"{name}\n" * done, **own}, files

    def _plan_file(self, name: str) -> Path:
        steps = [
            {
                "name": step,
                "tool": "shell",
                "with": {"command": f"echo {name} >> shared.txt; echo {name} > {name}-{step}.txt"},
            }
            for step in STEPS
        ]
        file: Path = self.cli.place / f"{name}.yaml"
        file.write_text(yaml.safe_dump({"name": f"robot/{name}", "steps": steps}))
        return file

    def _start(self, *arguments: str) -> subprocess.Popen[str]:
        _ = self.cli.place
        return subprocess.Popen(
            [self.cli.command, *arguments, "--format", "json"],
            cwd=self.cli.repository,
            env=self.cli.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _run(self, *arguments: str) -> dict[str, Any]:
        process = self._start(*arguments)
        said = process.communicate(timeout=WAIT_SECONDS)
        assert process.returncode == 0, said
        return json.loads(said[0])["data"]
