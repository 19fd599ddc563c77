"""Gives every scenario a world of its own."""

from __future__ import annotations

from behave.model import Scenario
from behave.runner import Context
from features.support.world import World


def before_scenario(context: Context, _: Scenario) -> None:
    context.world = World(runner=context.config.userdata.get("runner", "in-process"))


def after_scenario(context: Context, _: Scenario) -> None:
    context.world.close()
