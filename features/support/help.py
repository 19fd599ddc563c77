"""The help of every command, as a user would read it."""

from __future__ import annotations

from collections.abc import Iterator

import click
from features.support.world import World

from cleveragents.cli.main import root


def every_help(world: World) -> Iterator[tuple[str, str]]:
    """Yields each command of `agents` as it is typed, with the help it prints."""
    waiting: list[tuple[click.Command, tuple[str, ...]]] = [(root, ())]
    while waiting:
        found, names = waiting.pop()
        if isinstance(found, click.Group):
            ctx = click.Context(found)
            inside = {name: found.get_command(ctx, name) for name in found.list_commands(ctx)}
            waiting += [(child, (*names, name)) for name, child in inside.items() if child]
        else:
            yield " ".join(("agents", *names)), world.agents_here(*names, "--help").stdout
