"""Plans on a repository, a directory and a database, run by the command."""

from __future__ import annotations

import json
import shlex
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import yaml
from features.support.world import World

from cleveragents.testing.trees import Tree, read_tree

RESOURCES: dict[str, dict[str, str]] = {
    "project": {"type": "git-checkout", "path": "."},
    "files": {"type": "fs-directory", "path": "data"},
    "base": {"type": "sqlite", "path": "app.db"},
}
INSERT = """python3 -c '
import os, sqlite3
connection = sqlite3.connect(os.environ["CLEVERAGENTS_RESOURCE_BASE"])
connection.execute("INSERT INTO t VALUES (2)")
connection.commit()'"""


class SeveralResources:
    """One project, one plan, and what they were before it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.root = world.project
        self.warnings = ""
        self.sandboxes: list[dict[str, Any]] = []
        self._shell("git init -q . && printf 'app.db\\ndata\\nplan.yaml\\n' > .gitignore")
        self._shell("mkdir data && echo 1 > data/one && mkfifo data/pipe && chmod 750 data")
        self._shell(
            "git add -A && git -c user.name=x -c user.email=x@example.invalid commit -qm Start"
        )
        with closing(sqlite3.connect(self.root / "app.db")) as connection:
            connection.execute("CREATE TABLE t(a)")
            connection.commit()
        self.before: Tree = {}

    def _shell(self, command: str) -> None:
        subprocess.run(
            ["/bin/sh", "-c", command], cwd=self.root, env=self.world.environment, check=True
        )

    def plan(
        self, resources: dict[str, dict[str, str]], steps: list[dict[str, Any]], **more: object
    ) -> None:
        definition = {"name": "local/several", "resources": resources, "steps": steps, **more}
        (self.root / "plan.yaml").write_text(yaml.safe_dump(definition, sort_keys=False))
        self.before = self._mine()

    def plan_on_all(self) -> None:
        command = f"echo new > new.txt; echo 2 > '{{{{ resources.files.path }}}}/two'; {INSERT}"
        self.plan(
            RESOURCES,
            [
                {"tool": "shell", "with": {"command": command}},
                {"tool": "shell", "resource": "base", "with": {"command": "test -f app.db"}},
                {
                    "tool": "write-file",
                    "resource": "files",
                    "with": {"path": "three", "content": "3"},
                },
            ],
        )

    def plan_with_decisions(self) -> None:
        """Decides after two resources changed, after one did, and after none did."""
        record = {"tool": "record-decision", "with": {"question": "And now?", "chosen": "go on"}}
        two = f"echo new > new.txt; {INSERT}"
        more = {"path": "three", "content": "3"}
        self.plan(
            RESOURCES,
            [
                {"name": "two", "tool": "shell", "with": {"command": two}},
                {"name": "first", **record},
                {"name": "one", "tool": "write-file", "resource": "files", "with": more},
                {"name": "second", **record},
                {"name": "third", **record},
            ],
        )

    def plan_on_odd_names(self, names: list[str]) -> None:
        """Writes a binary file of each name to both; `\\n` and the like are shell escapes."""
        spelled = " ".join(f"$'{name}'" for name in names)
        write = (
            f'for name in {spelled}; do mkdir -p "$(dirname "$name")"; printf "\\0" > "$name"; done'
        )
        command = f"bash -c {shlex.quote(write)}; {INSERT}"
        self.plan(
            RESOURCES,
            [
                {"tool": "shell", "with": {"command": command}},
                {"tool": "shell", "resource": "files", "with": {"command": command}},
            ],
        )

    def plan_on_database(self) -> None:
        self.leave_git()
        self.plan({"base": RESOURCES["base"]}, [{"tool": "shell", "with": {"command": INSERT}}])

    def plan_without_sandbox(self) -> None:
        self.plan(
            {"files": {**RESOURCES["files"], "strategy": "none"}},
            [{"tool": "write-file", "with": {"path": "own", "content": "x"}}],
            policy={"require_sandbox": False},
        )

    def leave_git(self) -> None:
        shutil.rmtree(self.root / ".git")

    def run(self) -> None:
        self.world.agents("plan", "run", "plan.yaml", "--format", "json")
        self.warnings = self.world.last.stdout + self.world.last.stderr
        if self.world.last.exit_code == 0:
            self.sandboxes = self.world.last.json["data"]["execution"]["sandboxes"]

    def roll_back(self) -> None:
        self.run()
        self.world.agents("plan", "rollback", "@latest", "@first", "--yes", "--format", "json")

    def roll_back_to_beginning_of_ids(self) -> None:
        self.run()
        listed = self.world.agents("plan", "checkpoint", "list", "@latest", "--format", "json")
        rows = listed.json["data"]["checkpoints"]
        group = [item["checkpoint_id"] for item in rows if item["group_id"] == rows[0]["group_id"]]
        assert len(group) > 1, rows
        beginnings = [group[0][:length] for length in range(1, 26)]
        common = [text for text in beginnings if all(item.startswith(text) for item in group)][-1]
        self.world.agents("plan", "rollback", "@latest", common, "--yes", "--format", "json")

    def compare(self) -> None:
        self.run()
        self.world.agents("plan", "diff", "@latest", "@first", "@latest", "--format", "json")

    def show_patch(self) -> None:
        self.run()
        self.world.agents("plan", "diff", "@latest", "--format", "plain")

    def rows_by_label(self) -> dict[str, list[str]]:
        """The resources that each checkpoint of the latest plan has a row for."""
        listed = self.world.agents("plan", "checkpoint", "list", "@latest", "--format", "json")
        rows: dict[str, list[str]] = {}
        for item in listed.json["data"]["checkpoints"]:
            rows.setdefault(item["label"], []).append(item["resource"])
        return rows

    def groups(self) -> list[tuple[dict[str, str], dict[str, str]]]:
        """The snapshots and the state hashes of each group, by resource id."""
        with closing(sqlite3.connect(self.world.home / "state.db")) as connection:
            rows = connection.execute(
                "SELECT snapshots_json, state_hashes_json FROM checkpoint_groups"
            ).fetchall()
        return [(json.loads(snapshots), json.loads(hashes)) for snapshots, hashes in rows]

    def expect_as_before(self) -> None:
        assert self.world.last.exit_code == 0, self.world.last.stderr
        assert self.world.last.json["data"]["verified"] is True
        for sandbox in self.sandboxes:
            place = Path(sandbox["path"])
            if sandbox["resource"] == "base":
                with closing(sqlite3.connect(place)) as connection:
                    assert connection.execute("SELECT a FROM t").fetchall() == []
            elif sandbox["resource"] == "files":
                wanted = read_tree(self.root / "data")
                del wanted["pipe"]
                assert read_tree(place) == wanted
            else:
                assert sorted(read_tree(place)) == [".", ".gitignore"]

    def expect_untouched(self) -> None:
        assert self._mine() == self.before

    def _mine(self) -> Tree:
        return read_tree(self.root)
