"""Gives every scenario a world of its own."""

from __future__ import annotations

import signal

from behave.model import Scenario
from behave.runner import Context
from features.support.world import World


def before_scenario(context: Context, _: Scenario) -> None:
    context.world = World(runner=context.config.userdata.get("runner", "in-process"))


def after_scenario(context: Context, _: Scenario) -> None:
    context.world.close()


def before_all(context: Context) -> None:
    """Has Ctrl-C mean what it means to a user: a shell's background job starts deaf to it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
