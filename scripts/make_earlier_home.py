"""Writes `features/fixtures/home-0.1.0.tar.xz`: a home directory as version 0.1.0 left it.

    git worktree add ../earlier e3a7344
    PYTHONPATH=../earlier/src python scripts/make_earlier_home.py ARCHIVE

The archive in the repository was written by commit e3a7344. It is not made anew when the
program changes: that is what it is for. Run this as a user who cannot read every file, as
one of the checkpoints leaves out a file that cannot be read.

The archive holds `home` (database, mirrors, sandboxes), the projects of its plans, and
`expected.json`: what that version itself reported about each plan, and what it restored,
byte for byte, by a rollback to each checkpoint, an undo, a resume, an apply and so on.
Paths in it begin with the directory that it was made in, which `expected.json` names.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))

from features.support.situations.earlier_home import ACTIONS, EXPECTED, PARTS, REPORTS, EarlierHome
from features.support.world import Outcome, World

COMMIT = "e3a7344"
COMMIT_ON_A_DAY = (
    "GIT_AUTHOR_DATE='2026-01-01 00:00 +0000' GIT_COMMITTER_DATE='2026-01-01 00:00 +0000'"
    " git -c user.name=Ada -c user.email=ada@example.org commit"
)
LARGE = 20_000
"""Bytes; checkpoints leave out larger files."""

ALL_RESOURCES = {
    "project": {"type": "git-checkout", "path": "."},
    "assets": {"type": "fs-directory", "path": "../assets"},
    "data": {"type": "sqlite", "path": "../shop.db"},
}
ODD_FILES = f"""
mkdir -p empty/inner private; chmod 700 private
echo secret > private/key; chmod 600 private/key
echo run > run.sh; chmod 755 run.sh
echo fixed > fixed; chmod 444 fixed
ln -s ../assets outside; ln -s missing dangling
printf x > 'two
lines'; printf y > "$(printf 'caf\\351')"; printf z > ' spaced "quoted" '
mkfifo pipe
head -c {LARGE + 1} /dev/zero > large.bin
"""


def shell(name: str, command: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "tool": "shell", "with": {"command": command}, **more}


def writes(name: str, path: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "tool": "write-file",
        "with": {"path": path, "content": f"by {name}\n"},
        **more,
    }


def three_steps() -> list[dict[str, Any]]:
    return [
        writes("one", "README.md"),
        shell("two", "echo 2 > two.txt; echo 2 > also.txt; rm src/app.py"),
        shell("three", f"git add -A; {COMMIT_ON_A_DAY} -qm three"),
    ]


def subplans(one: str, two: str) -> list[dict[str, Any]]:
    plans = {"one": {"steps": [shell("one 1", one)]}, "two": {"steps": [shell("two 1", two)]}}
    return [
        writes("begin", "begin.txt"),
        {"name": "middle", "subplans": {"mode": "parallel", "plans": plans}},
        writes("end", "end.txt"),
    ]


DECISION = {
    "name": "where",
    "decision": {
        "question": "Where do greetings live?",
        "chosen": "file",
        "options": {
            "file": {"steps": [writes("in a file", "store.py")]},
            "table": {"steps": [writes("in a table", "store.sql"), writes("index", "index.sql")]},
        },
    },
}

PLANS: dict[str, dict[str, Any]] = {
    "complete": {
        "resources": ALL_RESOURCES,
        "steps": [
            shell("odd files", ODD_FILES, resource="assets"),
            shell("odd files of git", ODD_FILES),
            {
                "name": "rows",
                "tool": "sql",
                "resource": "data",
                "with": {"statement": "INSERT INTO items VALUES ('lamp', 3)"},
            },
            shell("tidy up", "rm -r private two*; mv run.sh bin.sh", resource="assets"),
            shell("ignored", "echo log > debug.log; git add run.sh; git rm -q src/app.py"),
        ],
    },
    "failed": {
        "steps": [
            writes("one", "one.txt"),
            shell("two", "echo 2 > two.txt; test -e ../../../../repaired"),
            writes("three", "three.txt"),
        ]
    },
    "rolled-back": {"steps": three_steps()},
    "undone": {"steps": three_steps()},
    "corrected": {"steps": [writes("begin", "a.txt"), DECISION, writes("end", "end.txt")]},
    "applied": {"resources": ALL_RESOURCES, "steps": [writes("one", "applied.txt")]},
    "family": {"steps": subplans("echo 1 > one.txt", "echo 2 > two.txt; rm README.md")},
    "conflict": {"steps": subplans("echo 1 > README.md; echo 1 > one.txt", "echo 2 > README.md")},
    "partial": {
        "policy": {"require_checkpoints": False},
        "steps": [shell("one", "mkdir deep; echo 1 > deep/file"), writes("two", "two.txt")],
    },
    "interrupted": {"steps": three_steps()},
    "unreadable": {
        "steps": [
            shell("one", "echo 1 > hidden; echo 1 > shown; chmod 0 hidden"),
            shell("two", "echo 2 > shown; chmod 600 hidden"),
        ]
    },
    "cancelled": {"steps": [writes("one", "one.txt")]},
    "queued": {"steps": [writes("one", "one.txt")]},
}


class Maker:
    """Has the earlier version work in a directory of its own."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.base = world.directory
        self.project = world.project
        self.ids: dict[str, str] = {}

    def expect(self, exit_code: int, *arguments: str, **options: Any) -> Outcome:
        outcome = self.world.agents_here(*arguments, **options)
        assert outcome.exit_code == exit_code, (arguments, outcome)
        return outcome

    def make_projects(self) -> None:
        (self.project / "src").mkdir(parents=True)
        (self.project / "README.md").write_text("# Shop\n")
        (self.project / "src" / "app.py").write_text("print('shop')\n")
        (self.project / ".gitignore").write_text("*.log\n")
        (self.base / "assets").mkdir()
        (self.base / "assets" / "logo.svg").write_text("<svg/>\n")
        with closing(sqlite3.connect(self.base / "shop.db")) as connection, connection:
            connection.execute("CREATE TABLE items (name TEXT, count INTEGER)")
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        for command in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-qm", "start")):
            subprocess.run(
                ["git", *identity, *command],
                cwd=self.project,
                env=self.world.environment,
                check=True,
            )
        shutil.rmtree(self.project / ".git" / "hooks")
        for name, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
            subprocess.run(["git", "config", name, value], cwd=self.project, check=True)

    def make_plans(self) -> None:
        self.expect(0, "config", "set", "sandbox.checkpoint.max-file-size", str(LARGE))
        self.expect(0, "config", "set", "sandbox.checkpoint.max-checkpoints-per-plan", "200")
        self.run("applied")
        self.expect(0, "plan", "apply", self.ids["applied"], "--yes")
        self.run("complete")
        self.run("failed", exit_code=8)
        self.run("rolled-back")
        self.roll_back("rolled-back", "after one")
        self.run("undone")
        self.roll_back("undone", "after one")
        self.expect(0, "plan", "undo", self.ids["undone"], "--yes")
        self.run("corrected")
        self.correct("corrected")
        self.run("family")
        self.run("conflict", exit_code=6)
        self.run("partial", env={"CLEVERAGENTS_CHECKPOINT_DEADLINE": "0.000001"})
        self.run("unreadable")
        self.run("interrupted")
        self.kill_rollback("interrupted", "after one")
        self.run("cancelled")
        self.expect(0, "plan", "cancel", self.ids["cancelled"])
        self.expect(0, "plan", "use", self._written("queued"))
        self._remember("queued")

    def run(self, name: str, exit_code: int = 0, **options: Any) -> None:
        self.expect(exit_code, "plan", "run", self._written(name), **options)
        self._remember(name)

    def _written(self, name: str) -> str:
        file = self.base / "plans" / f"{name}.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(yaml.safe_dump({"name": f"local/{name}", **PLANS[name]}, sort_keys=False))
        return str(file)

    def _remember(self, name: str) -> None:
        self.ids[name] = self.expect(0, "plan", "status", "@latest", "--format", "json").json[
            "data"
        ]["plan_id"]

    def checkpoint(self, name: str, label: str) -> str:
        listed = self.expect(0, "plan", "checkpoint", "list", self.ids[name], "--format", "json")
        found = [item for item in listed.json["data"]["checkpoints"] if item["label"] == label]
        return found[-1]["checkpoint_id"]

    def roll_back(self, name: str, label: str) -> None:
        self.expect(0, "plan", "rollback", self.ids[name], self.checkpoint(name, label), "--yes")

    def kill_rollback(self, name: str, label: str) -> None:
        """Kills the rollback when it is about to write its second file."""
        command = ("plan", "rollback", self.ids[name], self.checkpoint(name, label), "--yes")
        child = os.fork()
        if child == 0:
            sys.addaudithook(_kill_at_second_file(itertools.count(1)))
            self.world.agents_here(*command)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), status

    def correct(self, name: str) -> None:
        root = self.expect(0, "plan", "tree", self.ids[name], "--format", "json").json["data"]
        decisions = [node for node in root["tree"]["children"] if node["chosen"] == "file"]
        options = ("--mode", "revert", "--choose", "table", "--guidance", "faster", "--yes")
        self.expect(0, "plan", "correct", decisions[0]["decision_id"], *options)
        self.expect(0, "plan", "execute", self.ids[name])

    def expected(self, archive: Path) -> dict[str, Any]:
        """What this version reports, restores and does; each time with what is in the archive."""
        home = EarlierHome(self.base, self.ids, self.world.agents_here)
        results: dict[str, Any] = {"base": str(self.base), "commit": COMMIT, "plans": self.ids}
        results["reports"] = {
            name: {report: home.report(report, name) for report in REPORTS} for name in self.ids
        }
        results["rollbacks"] = {}
        for name in self.ids:
            results["rollbacks"][name] = home.rollbacks(name)
        self.unpack(archive)
        results["actions"] = {}
        for action in ACTIONS:
            results["actions"][action] = home.act(action)
            self.unpack(archive)
        return results

    def unpack(self, archive: Path) -> None:
        for part in self.base.iterdir():
            if part != archive:
                shutil.rmtree(part) if part.is_dir() else part.unlink()
        with tarfile.open(archive) as stored:
            stored.extractall(self.base, filter="fully_trusted")

    def pack(self, archive: Path, *more: str) -> None:
        with tarfile.open(archive, "w:xz", preset=9) as stored:
            for part in (*PARTS, *more):
                stored.add(self.base / part, part, filter=_of_nobody)


def _of_nobody(member: tarfile.TarInfo) -> tarfile.TarInfo:
    return member.replace(uid=0, gid=0, uname="root", gname="root", deep=False)


def _kill_at_second_file(counted: Iterator[int]) -> Callable[[str, tuple[Any, ...]], None]:
    def hook(name: str, arguments: tuple[Any, ...]) -> None:
        if name != "open" or not isinstance(arguments[0], str) or "/" in arguments[0]:
            return
        if arguments[2] & (os.O_WRONLY | os.O_RDWR) and next(counted) == 2:
            os.kill(os.getpid(), signal.SIGKILL)

    return hook


def main(archive: str) -> None:
    world = World(runner="in-process")
    with closing(world), patch.object(socket, "gethostname", return_value="another-machine"):
        (world.directory / "unreadable").touch(mode=0)
        assert not os.access(world.directory / "unreadable", os.R_OK), "this user reads every file"
        maker = Maker(world)
        maker.make_projects()
        maker.make_plans()
        draft = world.directory / "draft.tar"
        maker.pack(draft)
        (world.directory / EXPECTED).write_text(json.dumps(maker.expected(draft), indent=1))
        maker.pack(Path(archive), EXPECTED)


if __name__ == "__main__":
    main(*sys.argv[1:])
