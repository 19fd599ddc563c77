"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from cleveragents.cli.session import PROGRESS, Session

CommandT = TypeVar("CommandT", bound=Callable[..., Any])


def progress_option(function: CommandT) -> CommandT:
    """Lets the user choose how a command that runs a plan tells what happens; see `Session`."""
    return click.option(
        "--progress",
        type=click.Choice(PROGRESS),
        callback=_remember,
        expose_value=False,
        help="How to tell on stderr what happens: as lines for people, as one JSON object "
        "a line, or not at all.",
    )(function)


def _remember(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        session: Session = ctx.obj
        session.progress = value
