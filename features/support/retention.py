"""Checkpoints that are named by labels, and stored snapshots."""

from __future__ import annotations

import json
import re
import subprocess

from features.support.plans import Plans


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
