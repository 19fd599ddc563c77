"""Checkpoints that are named by labels, stored snapshots, and plans with very many of both."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from pathlib import Path

from features.support.plans import Plans
from features.support.world import World

BYTES_A_STATE = 6_000


def labels_in(text: str) -> list[str]:
    """The labels in a text such as `"after one", "before two"`."""
    return re.findall(r'"([^"]+)"', text)


def named(plans: Plans, command: str, text: str, *options: str) -> list[str]:
    """The command about the checkpoints that a text names by their labels."""
    ids = [plans.checkpoint(label)["checkpoint_id"] for label in labels_in(text)]
    return ["plan", "checkpoint", command, plans.plan_id, *ids, *options]


def stored_snapshots(plans: Plans) -> set[str]:
    """What the stores keep of the plan, whatever its resources are."""
    found: set[str] = set()
    for mirror in (plans.world.home / "mirrors").glob("*.git"):
        listing = subprocess.run(
            ["git", "for-each-ref", "--format=%(refname)", "refs/cleveragents/snapshots"],
            cwd=mirror,
            env=plans.world.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        found |= {
            name.rpartition("/")[2] for name in listing.stdout.split() if plans.plan_id in name
        }
    return found


def recorded_snapshots(plans: Plans) -> set[str]:
    """What the plan's groups name."""
    groups = plans.query(
        "SELECT snapshots_json FROM checkpoint_groups WHERE plan_id = ?", plans.plan_id
    )
    return {snapshot for (text,) in groups for snapshot in json.loads(text).values()}


def store_bytes(plans: Plans) -> int:
    """What the plan's store takes on the disk, without what it shares with the project."""
    places = (plans.mirror, plans.mirror.with_suffix(".private"))
    looks = [path.lstat() for place in places for path in place.rglob("*")]
    return sum(look.st_blocks * 512 for look in looks if look.st_nlink == 1)


def put(sandbox: Path, number: int) -> None:
    """Makes the sandbox the state of that number, whatever it was before."""
    for name in ("one", "two", "three"):
        shutil.rmtree(sandbox / name, ignore_errors=True)
    place = sandbox / ("one", "two", "three")[number % 3]
    (place / "empty").mkdir(parents=True)
    (place / "inside.txt").write_text(f"{number}\n")
    (sandbox / "large.bin").write_bytes(random.Random(number).randbytes(BYTES_A_STATE))
    (sandbox / "run.sh").chmod(0o755 if number % 2 else 0o700)
    (sandbox / "link").unlink(missing_ok=True)
    (sandbox / "link").symlink_to(f"state-{number % 7}")
    readme = sandbox / "README.md"
    readme.write_text("# Shop\n") if number % 5 else readme.unlink(missing_ok=True)


class ManyStates:
    """A plan with very many checkpoints, and one that has only those that are left of them."""

    def __init__(self, plans: Plans) -> None:
        self.plans = plans
        self.made: list[str] = []
        """The labels of all checkpoints there ever were, oldest first."""

    def make(self, count: int) -> None:
        self._begin(self.plans)
        while len(self.made) < count:
            self._add(self.plans, len(self.made))
        events = "SELECT count(*) FROM events WHERE type = 'checkpoint.created'"
        assert self.plans.query(events) == [(count,)], self.plans.query(events)

    def bytes_of_control(self, labels: list[str]) -> int:
        """What a plan takes that was never in any state but these."""
        world = World(runner=self.plans.world.runner)
        try:
            control = Plans(world)
            self._begin(control)
            for label in labels:
                if label.startswith("state "):
                    self._add(control, int(label.partition(" ")[2]))
            control.prepare("gc")
            return store_bytes(control)
        finally:
            world.close()

    def restore_each(self, labels: list[str]) -> int:
        """Rolls back to every one of them and compares the whole sandbox; returns how many."""
        limit = "CLEVERAGENTS_CHECKPOINT_MAX_CHECKPOINTS_PER_PLAN"
        self.plans.world.environment[limit] = str(len(labels) * 10)
        for label in labels:
            checkpoint = self.plans.checkpoint(label)
            self.plans.prepare(*self.plans.rollback(label, "--yes"))
            assert self.plans.found() == self.plans.seen[checkpoint["sandbox_ref"]], label
            if label.startswith("state "):
                self._check(int(label.partition(" ")[2]))
        return len(labels)

    def _begin(self, plans: Plans) -> None:
        plans.define([{"step": "one", "does": "reads README.md"}])
        plans.run()
        self.made = self.made or plans.labels()

    def _add(self, plans: Plans, number: int) -> None:
        label = f"state {number}"
        put(plans.sandbox, number)
        plans.prepare("plan", "checkpoint", "create", plans.plan_id, "--label", label)
        if plans is self.plans:
            self.made.append(label)

    def _check(self, number: int) -> None:
        """Looks at the sandbox without trusting what was seen before."""
        content = (self.plans.sandbox / "large.bin").read_bytes()
        assert content == random.Random(number).randbytes(BYTES_A_STATE), number
        assert (self.plans.sandbox / "link").readlink() == Path(f"state-{number % 7}")
        assert (self.plans.sandbox / "README.md").exists() is bool(number % 5)
