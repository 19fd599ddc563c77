"""Checkpoints that are named by labels."""

from __future__ import annotations

import re

from features.support.plans import Plans


def labels_in(text: str) -> list[str]:
    """The labels in a text such as `"after one", "before two"`."""
    return re.findall(r'"([^"]+)"', text)


def named(plans: Plans, command: str, text: str, *options: str) -> list[str]:
    """The command about the checkpoints that a text names by their labels."""
    ids = [plans.checkpoint(label)["checkpoint_id"] for label in labels_in(text)]
    return ["plan", "checkpoint", command, plans.plan_id, *ids, *options]
