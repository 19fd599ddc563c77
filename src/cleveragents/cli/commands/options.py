"""Options that several commands share, and the reports of commands that stop early."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cleveragents.cli.session import PROGRESS, Session
from cleveragents.domain.errors import DeclinedError
from cleveragents.reports.report import Report

if TYPE_CHECKING:
    from cleveragents.domain.checkpoints.operation import OperationKind, RecoveryOutcome

yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Only show what would be done.")

CommandT = TypeVar("CommandT", bound=Callable[..., Any])


def progress_option(function: CommandT) -> CommandT:
    """Adds the options that set `Session.progress` and `Session.verbose`."""
    function = click.option(
        "--verbose",
        "-v",
        is_flag=True,
        callback=_be_verbose,
        expose_value=False,
        help="Show what steps and validations print while they run.",
    )(function)
    return click.option(
        "--progress",
        type=click.Choice(PROGRESS),
        callback=_remember,
        expose_value=False,
        help="How to show progress on stderr: as text, as one JSON object per line, or not at all.",
    )(function)


def all_option(function: CommandT) -> CommandT:
    """Adds the option that sets `Session.every_row`."""
    return click.option(
        "--all",
        is_flag=True,
        callback=_show_every_row,
        expose_value=False,
        help="List all files, not only the first 20.",
    )(function)


def only_ended(ended: RecoveryOutcome, kind: OperationKind, plan_id: str) -> Report:
    """The report of a command that finished an interrupted operation and then stopped.

    The preview that the user saw may no longer be true, so the command must be given again.
    """
    done = ended.completed and ended.kind is kind
    data = {
        "plan_id": plan_id,
        "recovered": {"kind": ended.kind.value, "completed": ended.completed},
    }
    message = (
        f"{kind.value.capitalize()} complete"
        if done
        else f"Check `agents plan log {plan_id}`, then run the command again if you still want it"
    )
    return Report(data, (), (message,), status="warn", exit_code=0 if done else 3)


def refused() -> Report:
    """The report after the user answered no."""
    message = "Nothing was changed"
    error = DeclinedError(message)
    return Report({}, (), (message,), status="error", exit_code=error.exit_code, error=error)


def _show_every_row(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    session: Session = ctx.obj
    session.every_row = value


def _be_verbose(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    session: Session = ctx.obj
    session.verbose = value


def _remember(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        session: Session = ctx.obj
        session.progress = value
