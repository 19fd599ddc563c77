"""A home directory that an earlier version wrote, unpacked where a scenario wants it.

`scripts/make_earlier_home.py` had that version do what `reports`, `rollbacks` and `act` do
here, and kept what came of it in `expected.json`; the scenarios do the same and compare.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import tarfile
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from features.support.manifests import manifest
from features.support.trees import git_place
from features.support.world import Outcome

ARCHIVE = Path(__file__).parents[2] / "fixtures" / "home-0.1.0.tar.xz"
EXPECTED = "expected.json"
PARTS = ("home", "project", "assets", "shop.db", "plans")

Agents = Callable[..., Outcome]

REPORTS = {
    "list": ("plan", "list", "--subplans"),
    "status": ("plan", "status", "PLAN"),
    "checkpoints": ("plan", "checkpoint", "list", "PLAN", "--all"),
    "verify": ("plan", "checkpoint", "verify", "PLAN"),
    "errors": ("plan", "errors", "PLAN"),
    "tree": ("plan", "tree", "PLAN"),
    "log": ("plan", "log", "PLAN"),
    "artifacts": ("plan", "artifacts", "PLAN"),
    "conflicts": ("plan", "conflicts", "PLAN"),
}
"""Commands that change nothing; PLAN is the id of a plan."""

ACTIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "undoes the rollback of rolled-back": (("plan", "undo", "rolled-back", "--yes"),),
    "redoes the rollback of undone": (("plan", "redo", "undone", "--yes"),),
    # Four steps ran after the correction, and are undone before it.
    "undoes the correction of corrected": (("plan", "undo", "corrected", "--yes"),) * 5,
    "resumes failed": (("plan", "resume", "failed", "--yes"),),
    "resumes rolled-back": (("plan", "resume", "rolled-back", "--yes"),),
    "resumes interrupted": (("plan", "resume", "interrupted", "--yes"),),
    "executes queued": (("plan", "execute", "queued"),),
    "resolves conflict": (
        ("plan", "conflicts", "conflict", "--take", "theirs", "--all"),
        ("plan", "resume", "conflict", "--yes"),
    ),
    "applies complete": (("plan", "apply", "complete", "--yes"),),
    "applies family": (("plan", "apply", "family", "--yes"),),
    "applies failed": (("plan", "apply", "failed", "--yes"),),
    "cancels partial": (("plan", "cancel", "partial", "--discard", "--yes"),),
    "collects what is not needed": (("gc",),),
}
FIXED: dict[str, dict[str, Any]] = {
    # That version said nothing of a file that git ignores, and removed it with the sandbox.
    "applies complete": {"exit_codes": [3]},
    # That version undid operations only, not steps.
    "undoes the correction of corrected": {"exit_codes": [0] * 5},
}
"""How an action ends now that ended otherwise in the earlier version."""
"""What a user does with the plans, by their names."""


class EarlierHome:
    """What is in the archive, at a place of its own; `agents` is the version to be tried."""

    def __init__(self, base: Path, ids: Mapping[str, str], agents: Agents) -> None:
        self.base = base
        self.ids = ids
        self._agents = agents

    def report(self, name: str, plan: str) -> Any:
        """What a command of `REPORTS` says about a plan: its exit code and its data."""
        words = [self.ids[plan] if word == "PLAN" else word for word in REPORTS[name]]
        outcome = self._run(*words)
        return [outcome.exit_code, outcome.json["data"]]

    def rollbacks(self, plan: str) -> dict[str, Any]:
        """Rolls a plan back to each of its checkpoints, the newest first.

        Each has the exit code, what is in the sandboxes, and the state hashes of a new
        checkpoint of that. Root captures what others cannot read, so there the hashes
        depend on who runs this, and are left out.
        """
        _, listed = self.report("checkpoints", plan)
        return {
            item["checkpoint_id"]: self.roll_back(plan, item["checkpoint_id"])
            for item in reversed(listed["checkpoints"])
        }

    def roll_back(self, plan: str, checkpoint_id: str) -> dict[str, Any]:
        """Rolls a plan back; returns what `rollbacks` does for each checkpoint."""
        outcome = self._run("plan", "rollback", self.ids[plan], checkpoint_id, "--yes")
        found = {"exit_code": outcome.exit_code, "sandboxes": self._sandboxes(self.ids[plan])}
        if plan != "unreadable":
            found["state_hashes"] = self._state_hashes(plan)
        return found

    def _state_hashes(self, plan: str) -> dict[str, str]:
        """The hash of each sandbox in a new checkpoint, or in the newest if none can be made."""
        self._run("plan", "checkpoint", "create", self.ids[plan], "--label", "now")
        with closing(sqlite3.connect(self.base / "home" / "state.db")) as connection:
            newest = connection.execute(
                "SELECT state_hashes_json FROM checkpoint_groups WHERE plan_id = ?"
                " ORDER BY sequence DESC LIMIT 1",
                (self.ids[plan],),
            )
            return json.loads(newest.fetchone()[0])

    def act(self, action: str) -> dict[str, Any]:
        """Does one of `ACTIONS`; returns the exit codes and everything that is on disk then."""
        (self.base / "repaired").touch()
        codes = [
            self._run(*(self.ids.get(word, word) for word in command)).exit_code
            for command in ACTIONS[action]
        ]
        return {"exit_codes": codes, **self.everything()}

    def everything(self) -> dict[str, Any]:
        """The sandboxes of all plans, and the projects."""
        project = self.base / "project"
        return {
            "sandboxes": {name: self._sandboxes(plan_id) for name, plan_id in self.ids.items()},
            "project": manifest(project),
            "git": [
                _git(project, "log", "--format=%an %s"),
                _git(project, "ls-files", "--stage"),
                _git(project, "status", "--porcelain"),
            ],
            "assets": manifest(self.base / "assets"),
            "rows": _rows(self.base / "shop.db"),
        }

    def _sandboxes(self, plan_id: str) -> dict[str, Any]:
        places = sorted((self.base / "home" / "sandboxes" / plan_id).glob("[!.]*"))
        return {place.name: [manifest(place), _place_in_git(place)] for place in places}

    def _run(self, *arguments: str) -> Outcome:
        return self._agents(*arguments, "--format", "json")


def _git(place: Path, *command: str) -> str:
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(
        ["git", *command], cwd=place, env=environment, capture_output=True, check=True
    )
    return done.stdout.decode(errors="surrogateescape")


def _place_in_git(sandbox: Path) -> str:
    return git_place(sandbox) if (sandbox / ".git").exists() else ""


def _rows(database: Path) -> list[str]:
    with closing(sqlite3.connect(database)) as connection:
        return list(connection.iterdump())


def unpack(archive: Path, base: Path) -> dict[str, Any]:
    """Unpacks an archive into a directory, and returns its `expected.json`.

    Absolute paths are stored in the database, in the `.git` files of worktrees and in
    what git keeps of them: those below the directory that the archive was made in are
    rewritten. A mirror keeps its name, which tells it from others and is read from the
    database.
    """
    with tarfile.open(archive) as stored:
        stored.extractall(base, filter="fully_trusted")
    text = (base / EXPECTED).read_text()
    made_in = json.loads(text)["base"]
    _move_records(base / "home" / "state.db", made_in, str(base))
    for link in base.glob("home/sandboxes/*/*/.git"):
        _move_text(link, made_in, str(base))
    for link in base.glob("home/mirrors/*.git/worktrees/*/gitdir"):
        _move_text(link, made_in, str(base))
    return json.loads(text.replace(made_in, str(base)))


def _move_text(file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text().replace(old, new))


def _move_records(database: Path, old: str, new: str) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for (table,) in tables.fetchall():
            for _, column, *_ in connection.execute(f"PRAGMA table_info({table})").fetchall():
                connection.execute(
                    f"UPDATE {table} SET {column} = replace({column}, ?, ?)"
                    f" WHERE typeof({column}) = 'text' AND instr({column}, ?)",
                    (old, new, old),
                )


def lost(expected: Any, found: Any, place: str = "") -> list[str]:
    """Lists what was reported earlier and is missing or different now; more is allowed.

    The sentence of a recovery hint is for people and may be reworded; its action may not.
    """
    if ".recovery_hints[" in place and place.endswith(".message"):
        return []
    if isinstance(expected, dict) and isinstance(found, dict):
        missing = [f"{place}.{key} is missing" for key in expected.keys() - found.keys()]
        common = expected.keys() & found.keys()
        return missing + [
            line for key in common for line in lost(expected[key], found[key], f"{place}.{key}")
        ]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return [line for number, pair in pairs for line in lost(*pair, f"{place}[{number}]")]
    return [] if expected == found else [f"{place} was {expected!r} and is {found!r}"]
