"""Everything of a project that must not change, and a plan that goes through all its commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml
from features.support.commands import spelled_out
from features.support.sandboxes.sandbox_bench import SandboxBench

IDENTITY = "git -c user.name=Agent -c user.email=agent@example.invalid"
Stamp = tuple[int, int, int, bytes]


def stamps(root: Path) -> dict[str, Stamp]:
    """Type and mode, modification time, size and bytes of every path, `.git` included."""
    found: dict[str, Stamp] = {}
    for path in (root, *root.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        size = status.st_size if content else 0
        found[str(path)] = (status.st_mode, status.st_mtime_ns, size, content)
    return found


class WholeLife:
    """A plan of one command, from `use` to `rollback`, through the command line."""

    def __init__(self, work: SandboxBench) -> None:
        self.work = work
        self.before = stamps(work.project)

    def run(self, command: str) -> None:
        script = spelled_out(command).replace("$GIT", IDENTITY)
        plan = {"name": "local/x", "steps": [{"tool": "shell", "with": {"command": script}}]}
        file = self.work.world.directory / "plan.yaml"
        file.write_text(yaml.safe_dump(plan))
        made = self._agents("plan", "use", str(file))
        plan_id = made["plan_id"]
        self._agents("plan", "execute", plan_id)
        listed = self._agents("plan", "checkpoint", "list", plan_id)["checkpoints"]
        self._agents("plan", "diff", plan_id)
        self._agents("plan", "status", plan_id)
        first = listed[0]["checkpoint_id"]
        back = self._agents("plan", "rollback", plan_id, first, "--yes")
        assert back["verified"], back
        self._agents("plan", "execute", plan_id)

    def _agents(self, *arguments: str) -> dict[str, Any]:
        done = self.work.world.agents_here(*arguments, "--format", "json")
        assert done.exit_code == 0, done
        return json.loads(done.stdout)["data"]

    def changed(self, *, times: bool) -> list[str]:
        after = stamps(self.work.project)
        old, new = (
            {path: (stamp if times else (stamp[0], *stamp[2:])) for path, stamp in found.items()}
            for found in (self.before, after)
        )
        return sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))

    def problems_of_mirrors(self) -> str:
        (mirror,) = (self.work.world.home / "mirrors").glob("*.git")
        return self.work.fsck_of(mirror)
