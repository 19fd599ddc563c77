"""Plans as scenarios speak of them: a small project, steps in plain words, checkpoints by label."""

from __future__ import annotations

import atexit
import errno
import functools
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import yaml
from behave.runner import Context
from features.support.commands import spelled_out
from features.support.trees import Records, Tree, git_place, records, tree
from features.support.world import Outcome, World

from cleveragents.container import Container
from cleveragents.infrastructure.config import load_settings
from cleveragents.infrastructure.database.unit_of_work import Connections, SqlDatabase
from cleveragents.infrastructure.sandbox.checkpoint import SandboxCheckpoint
from cleveragents.infrastructure.sandbox.files.sandbox import FileSandbox
from cleveragents.infrastructure.sandbox.store import snapshots
from cleveragents.infrastructure.system import SystemClock

DATABASE_FILES = frozenset({"state.db", "state.db-wal", "state.db-shm"})
_NEWEST = "SELECT max(plan_id) FROM plans WHERE parent_plan_id IS NULL"
FILES = {"README.md": "# Shop\n", "src/app.py": "print('shop')\n", "run.sh": "#!/bin/sh\n"}


class Seen(NamedTuple):
    """A sandbox as it was found on disk, by our own eyes."""

    files: Tree
    git: str


class Everything(NamedTuple):
    """All there is: what the home directory and the project hold, and every record."""

    home: Tree
    project: Tree
    rows: Records


class Plans:
    """The plans of one scenario; `plan_id` is the latest unless a step chose another."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.definition: dict[str, Any] = {"name": "local/shop"}
        self.chosen: str | None = None
        self.other = "OTHER"
        self.damaged = "DAMAGED"
        """The checkpoint whose record a scenario has damaged."""
        self.living: int | None = None
        """The process that holds the plan, if it is not this one."""
        self.before: Everything | None = None
        self.seen: dict[str, Seen] = {}
        """What the sandbox held whenever a snapshot was made, by snapshot id."""
        shutil.copytree(_models() / "project", world.project, symlinks=True, dirs_exist_ok=True)
        # Without the identity: this is to be a home of its own, not the copy of one.
        ignored = shutil.ignore_patterns("identity*")
        shutil.copytree(_models() / "home", world.home, ignore=ignored)
        world.home.chmod(0o700)
        self.untouched = tree(world.project)

    @property
    def file(self) -> Path:
        return self.world.directory / "plan.yaml"

    @property
    def database(self) -> Path:
        return self.world.home / "state.db"

    @property
    def plan_id(self) -> str:
        return self.chosen or self.query(_NEWEST)[0][0] or "none"

    @property
    def sandbox(self) -> Path:
        return self.world.home / "sandboxes" / self.plan_id / "project"

    @property
    def mirror(self) -> Path:
        (found,) = (self.world.home / "mirrors").glob("*.git")
        return found

    def define(self, steps: Iterable[Mapping[str, str]]) -> None:
        """Writes the plan file; a step `does` something in words that `meant` knows."""
        self.definition["steps"] = [
            {"name": row["step"], **self.meant(row["does"], row["step"])} for row in steps
        ]
        self.write()

    def meant(self, words: str, step: str) -> dict[str, Any]:
        verb, _, rest = words.partition(" ")
        what = rest.strip("`").replace("OUTSIDE", str(self.world.directory))
        match verb:
            case "writes":
                content = {"path": what, "content": f"by {step}\n"}
                return {"tool": "write-file", "with": content}
            case "reads":
                return {"tool": "read-file", "with": {"path": what}}
            case "deletes":
                return {"tool": "delete-file", "with": {"path": what}}
            case _:
                return {"tool": "shell", "with": {"command": spelled_out(what)}}

    def write(self) -> None:
        self.file.write_text(yaml.safe_dump(self.definition, sort_keys=False))

    def set_policy(self, **policy: object) -> None:
        self.definition.setdefault("policy", {}).update(policy)
        self.write()

    def prepare(self, *arguments: str, exit_code: int = 0, **options: Any) -> Outcome:
        """Runs `agents` for a Given, watching what the sandbox holds at each snapshot."""
        with self._watching():
            outcome = self.world.agents_here(*arguments, **options)
        assert outcome.exit_code == exit_code, outcome
        return outcome

    def act(self, *arguments: str, **options: Any) -> Outcome:
        """Runs `agents` for a When, remembering everything as it was before."""
        if self.database.exists():
            self.before = self.everything()
        with self._watching():
            return self.world.agents(*arguments, "--format", "json", **options)

    def converse(self, answer: str, *arguments: str) -> Outcome:
        """Like `act`, at a terminal: in the format for people, with an answer typed in."""
        self.before = self.everything()
        return self.world.agents(*arguments, stdin=f"{answer}\n")

    def run(self, exit_code: int = 0) -> None:
        self.prepare("plan", "run", str(self.file), "--format", "json", exit_code=exit_code)

    def checkpoints(self, *, everything: bool = False) -> list[dict[str, Any]]:
        """The plan's checkpoints as the user lists them; what was said before stays `last`."""
        said = self.world.outcome
        options = ["--all"] if everything else []
        listed = self.world.agents_here(
            "plan", "checkpoint", "list", self.plan_id, "--format", "json", *options
        )
        self.world.outcome = said
        return listed.json["data"]["checkpoints"]

    def checkpoint(self, label: str) -> dict[str, Any]:
        """The latest checkpoint of that label, also one that was set aside."""
        listed = self.checkpoints(everything=True)
        found = [item for item in listed if item["label"] == label]
        assert found, (label, [item["label"] for item in listed])
        return found[-1]

    def labels(self) -> list[str]:
        return [item["label"] for item in self.checkpoints()]

    def status(self) -> dict[str, Any]:
        said = self.world.outcome
        shown = self.world.agents_here("plan", "status", self.plan_id, "--format", "json")
        self.world.outcome = said
        return shown.json["data"]

    def rollback(self, label: str, *options: str) -> list[str]:
        """The command that takes the plan back to the checkpoint of that label."""
        return ["plan", "rollback", self.plan_id, self.checkpoint(label)["checkpoint_id"], *options]

    def found(self) -> Seen:
        """The sandbox as it is now."""
        return Seen(tree(self.sandbox), git_place(self.sandbox))

    def seen_at(self, label: str) -> Seen:
        """The sandbox as it was when the checkpoint of that label was made."""
        return self.seen[self.checkpoint(label)["sandbox_ref"]]

    def project_after(self, command: str) -> Tree:
        """What the project's files would be after a shell command, made apart from all else."""
        place = self.world.directory / "expected"
        shutil.copytree(
            self.world.project, place, symlinks=True, ignore=shutil.ignore_patterns(".git")
        )
        subprocess.run(["/bin/sh", "-ec", command], cwd=place, check=True)
        expected = tree(place)
        shutil.rmtree(place)
        return expected

    def stored(self, commit: str) -> Tree:
        """What git itself finds in a stored snapshot; our own eyes saw its modes."""
        place = self.world.directory / "stored"
        place.mkdir()
        archive = subprocess.run(
            ["git", "archive", commit], cwd=self.mirror, capture_output=True, check=True
        )
        subprocess.run(["tar", "-x", "-C", str(place)], input=archive.stdout, check=True)
        seen = {name: node for name, node in self.seen[commit].files.items() if name != ".git"}
        files = {name: node.content for name, node in seen.items() if node.kind != "directory"}
        found = {name: node.content for name, node in tree(place).items()}
        assert files.items() <= found.items() and found.keys() <= seen.keys(), found
        shutil.rmtree(place)
        return seen

    def everything(self) -> Everything:
        home = tree(self.world.home, without=DATABASE_FILES)
        return Everything(home, tree(self.world.project), records(self.database))

    def check_whole(self, known: list[tuple[object, ...]]) -> None:
        """Every row has its snapshot, nothing is pending, and no known group is lost."""
        rows = self.query("SELECT * FROM checkpoint_groups WHERE plan_id = ?", self.plan_id)
        names = {row[0] for row in rows}
        assert {row[0] for row in known} <= names, (known, rows)
        stored = {
            ref
            for (ref,) in self.query(
                "SELECT sandbox_ref FROM checkpoint_metadata WHERE plan_id = ?", self.plan_id
            )
        }
        assert stored <= self.refs(), (stored, self.refs())
        assert not self.query("SELECT * FROM operations WHERE status = 'pending'")
        check = ["git", "fsck", "--connectivity-only", "--no-dangling"]
        done = subprocess.run(check, cwd=self.mirror, capture_output=True, check=False)
        assert done.returncode == 0, done

    def refs(self) -> set[str]:
        """The snapshots that the plan keeps in the mirror, by the names of its refs."""
        listing = subprocess.run(
            ["git", "for-each-ref", "--format=%(refname)", "refs/cleveragents/snapshots"],
            cwd=self.mirror,
            env=self.world.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        names = listing.stdout.split()
        return {name.rpartition("/")[2] for name in names if self.plan_id in name}

    def query(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Asks, or changes by hand, the database with nothing but SQLite."""
        with closing(sqlite3.connect(self.database)) as connection, connection:
            return connection.execute(statement, values).fetchall()

    def filled(self, text: str) -> str:
        """Puts what no scenario can know in the place of capitals, and ids in that of «labels»."""
        known = {
            "PLAN": self.plan_id,
            "PROJECT": str(self.world.project),
            "SANDBOX": str(self.sandbox),
            "HOST": socket.gethostname(),
            "LIVING": str(self.living or os.getpid()),
            "OTHER": self.other,
            "DAMAGED": self.damaged,
        }
        for word, meaning in known.items():
            text = text.replace(word, meaning)
        return re.sub(r"«(.+?)»", lambda label: self.checkpoint(label[1])["checkpoint_id"], text)

    def container(self, events: Any) -> Container:
        """The services as a program would use them, on the scenario's home directory."""
        settings = load_settings(
            home=self.world.home,
            project=self.world.project,
            environ=self.world.environment,
            flags={},
        )
        return Container(
            home=self.world.home,
            settings=settings,
            environment=self.world.environment,
            events=events,
        )

    @contextmanager
    def room_for(self, count: int) -> Iterator[None]:
        """Makes a disk that takes `count` more snapshots and then is full."""
        real, left = snapshots.stored_pack, iter(range(count))

        def store(place: Path, new: list[Any]) -> Any:
            if new and next(left, None) is None:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(place, new)

        with patch.object(snapshots, "stored_pack", store):
            yield

    @contextmanager
    def _watching(self) -> Iterator[None]:
        real = FileSandbox.snapshot

        def watched(sandbox: FileSandbox) -> SandboxCheckpoint:
            made = real(sandbox)
            place = Path(sandbox._sandbox.path)
            self.seen[made.snapshot_id] = Seen(tree(place), git_place(place))
            return made

        with patch.object(FileSandbox, "snapshot", watched):
            yield


@functools.cache
def _models() -> Path:
    """A project and an empty home directory to copy, made once: making them takes a while."""
    place = Path(tempfile.mkdtemp(prefix="cleveragents-models-"))
    atexit.register(shutil.rmtree, place)
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull}
    make_repository(place / "project", environment)
    database = SqlDatabase(Connections(None, place / "home"), SystemClock())
    with database.read() as transaction:
        assert not transaction.plans.ids()
    database.close()
    return place


def make_repository(place: Path, environment: Mapping[str, str]) -> None:
    """A small git project with a commit."""
    for name, content in FILES.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (place / "run.sh").chmod(0o755)
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "start"]):
        subprocess.run(["git", *identity, *command], cwd=place, env=environment, check=True)


def plans(context: Context) -> Plans:
    """Returns the scenario's plans; the project is made when they are first spoken of."""
    if "plans" not in context:
        context.plans = Plans(context.world)
    return context.plans


def data(context: Context) -> dict[str, Any]:
    """Returns the data of the last document."""
    return context.world.last.json["data"]
