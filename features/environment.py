"""Gives every scenario a world of its own."""

from __future__ import annotations

import signal

from behave.model import Scenario
from behave.runner import Context
from features.support.world import World


def before_scenario(context: Context, scenario: Scenario) -> None:
    # Boxes are as wide as the paths in them, so screens need paths of one length.
    length = 50 if "golden" in scenario.effective_tags else 0
    runner = context.config.userdata.get("runner", "in-process")
    context.world = World(runner=runner, length=length)


def after_scenario(context: Context, _: Scenario) -> None:
    context.world.close()


def before_all(context: Context) -> None:
    """Has Ctrl-C mean what it means to a user: a shell's background job starts deaf to it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
