"""Plans with subplans, as scenarios speak of them."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from features.support.plans import Plans
from features.support.sweeps.fault_sweep import End, end_of
from features.support.trees import Tree, tree

from cleveragents.application.ports.plans import ChildRun
from cleveragents.infrastructure.child_plans import ProcessPlans

_IDS = re.compile("[0-9A-Z]{26}|[0-9a-f]{40}")


class Subplans:
    """The subplans of one scenario's plan: its first step writes begin.txt, its last end.txt."""

    def __init__(self, plans: Plans) -> None:
        self.plans = plans

    def define(self, mode: str, rows: Iterable[Mapping[str, str]]) -> None:
        """Writes the plan file; rows of one name are steps of one subplan."""
        subplans: dict[str, Any] = {}
        for row in rows:
            name = row["subplan"]
            steps = subplans.setdefault(name, {"steps": []})["steps"]
            steps.append(
                {"name": f"{name} {len(steps) + 1}", **self.plans.meant(row["does"], name)}
            )
            if row.get("after"):
                subplans[name]["depends_on"] = row["after"].split()
        middle = {"name": "middle", "subplans": {"mode": mode, "plans": subplans}}
        self.plans.definition["steps"] = [_writes("begin"), middle, _writes("end")]
        self.plans.write()

    def define_with_database(self, rows: Iterable[Mapping[str, str]]) -> None:
        """Writes a plan file with two resources, whose only step has subplans at once."""
        database = self.plans.world.directory / "app.db"
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("CREATE TABLE t (n)")
            connection.execute("INSERT INTO t VALUES (1)")
        subplans = {
            row["subplan"]: {
                "resources": row["resources"].split(),
                "steps": [self._database_step(row["does"])],
            }
            for row in rows
        }
        self.plans.definition["resources"] = {
            "project": {"type": "git-checkout", "path": "."},
            "data": {"type": "sqlite", "path": str(database)},
        }
        step = {"name": "middle", "subplans": {"mode": "parallel", "plans": subplans}}
        self.plans.definition["steps"] = [step]
        self.plans.write()

    def _database_step(self, words: str) -> dict[str, Any]:
        verb, _, number = words.partition(" ")
        if verb != "inserts":
            return self.plans.meant(words, "files")
        statement = f"INSERT INTO t VALUES ({number})"
        return {"tool": "sql", "with": {"statement": statement}, "resource": "data"}

    @property
    def options(self) -> dict[str, Any]:
        """What the step says about its subplans."""
        return self.plans.definition["steps"][1]["subplans"]

    def change(self, **options: object) -> None:
        self.options.update(options)
        self.plans.write()

    def ids(self) -> dict[str, str]:
        """The newest child of each name."""
        rows = self.plans.query(
            "SELECT name, plan_id FROM plans WHERE parent_plan_id = ? ORDER BY plan_id",
            self.plans.plan_id,
        )
        return {name.rpartition(".")[2]: plan_id for name, plan_id in rows}

    def states(self) -> dict[str, str]:
        """Phase and state of each child, by name."""
        return {
            name: "/".join(
                self.plans.query("SELECT phase, state FROM plans WHERE plan_id = ?", plan_id)[0]
            )
            for name, plan_id in self.ids().items()
        }

    def sandbox(self, name: str) -> Path:
        return self.plans.world.home / "sandboxes" / self.ids()[name] / "project"

    def files(self, name: str) -> Tree:
        return tree(self.sandbox(name))

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Starts `agents` in a process of its own, which nobody waits for."""
        world = self.plans.world
        process = subprocess.Popen(
            [sys.executable, "-m", "cleveragents", *arguments],
            cwd=world.project,
            env=world.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        world.on_close.callback(process.wait)
        world.on_close.callback(process.kill)
        return process

    @contextmanager
    def cancelled_beside(self, name: str, other: str, reason: str) -> Iterator[None]:
        """Has the user cancel one child as soon as another one is started."""
        real = ProcessPlans.start

        def start(children: ProcessPlans, plan_id: str, *, repeat_effects: bool) -> ChildRun:
            run = real(children, plan_id, repeat_effects=repeat_effects)
            if plan_id == self.ids()[other]:
                self.start("plan", "cancel", self.ids()[name], "--reason", reason).wait()
            return run

        with patch.object(ProcessPlans, "start", start):
            yield

    def end(self) -> End:
        """Where the plan got to, without ids: those of children differ from run to run."""
        end = end_of(self.plans)
        return end._replace(
            calls=[tuple(_IDS.sub("ID", str(value)) for value in call) for call in end.calls],
            checkpoints=[row[:4] for row in end.checkpoints],
        )

    def runs(self) -> list[str]:
        """What the children wrote down about their runs, outside of all sandboxes."""
        log = self.plans.world.directory / "runs"
        return log.read_text().split() if log.exists() else []


def _writes(name: str) -> dict[str, Any]:
    content = {"path": f"{name}.txt", "content": f"{name}\n"}
    return {"name": name, "tool": "write-file", "with": content}
