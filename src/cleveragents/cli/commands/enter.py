"""`agents enter`: a shell or a command inside a plan's sandbox, as the agent saw it.

As with `agents run`, the terminal belongs to the command, and everything we say goes to stderr.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cleveragents.cli import terminal
from cleveragents.cli.commands.run import SessionCommand, failed_before_start
from cleveragents.cli.session import Session
from cleveragents.domain.errors import CleverAgentsError, UsageError

if TYPE_CHECKING:
    from cleveragents.application.services.session_service import EnteredSandbox
    from cleveragents.domain.plans.plan import Plan

_COMMAND = "command"


class _EnterCommand(SessionCommand):
    """Keeps what follows `--` apart from the plan."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        before, after = args, list[str]()
        if "--" in args:
            position = args.index("--")
            before, after = args[:position], args[position + 1 :]
        ctx.meta[_COMMAND] = tuple(after)
        return super().parse_args(ctx, before)


@click.command(
    "enter",
    cls=_EnterCommand,
    help="Open a shell, or run a command, inside a plan's sandbox",
    epilog="Examples:\n"
    "  agents enter\n"
    "  agents enter 01HXM8C2 -- git log --oneline\n\n"
    "What it changes in the sandbox becomes a checkpoint.",
)
@click.argument("plan", required=False, metavar="[PLAN] [-- COMMAND [ARG]...]")
@click.pass_context
def enter(ctx: click.Context, plan: str | None) -> None:
    from cleveragents.infrastructure.foreground import CommandNotStartedError

    session: Session = ctx.obj
    shell = session.environ.get("SHELL") or "/bin/sh"
    command: tuple[str, ...] = ctx.meta[_COMMAND] or (shell,)
    try:
        code = _enter(session, plan, command)
    except (CleverAgentsError, CommandNotStartedError) as error:
        raise failed_before_start(error) from error
    raise click.exceptions.Exit(code)


def _enter(session: Session, reference: str | None, command: tuple[str, ...]) -> int:
    """Returns the exit code of the command."""
    from cleveragents.cli.commands.plan import end_interrupted, open_plan
    from cleveragents.infrastructure.foreground import require_command, run_in_foreground
    from cleveragents.infrastructure.recorder.processes import SESSION_VARIABLE

    outer = session.environ.get(SESSION_VARIABLE)
    if outer:
        raise UsageError(f"This already runs in the session {outer}")
    require_command(command[0], session.environ)
    session.progress = "none"
    with (
        open_plan(session, reference or _newest(session)) as (container, found),
        ExitStack() as held,
    ):
        end_interrupted(session, container, found.id)
        entered = held.enter_context(container.session_service().entered(found.id))
        place, environment = _place(session, found, entered)
        text = terminal.for_stderr(f"Inside the sandbox of plan {found.id}", session.environ)
        terminal.write(sys.stderr, f"{text}\n")
        before = entered.show if entered.is_private_view else None
        return run_in_foreground(command, place, environment, _Nobody(), before)


def _place(session: Session, plan: Plan, entered: EnteredSandbox) -> tuple[str, dict[str, str]]:
    """Returns where the command starts, and its variables."""
    from cleveragents.infrastructure.foreground import in_view

    top = Path(plan.project) if entered.is_private_view else Path(entered.sandbox.path)
    here = Path(os.path.realpath(session.directory))
    inside = here.relative_to(plan.project) if here.is_relative_to(plan.project) else Path()
    place = top / inside if entered.is_private_view or (top / inside).is_dir() else top
    environment = {**session.environ, "PWD": str(place)}
    if entered.is_private_view:
        environment = in_view(environment, session.home / "run" / f"{plan.id}.tmux")
    return str(place), environment


def _newest(session: Session) -> str:
    plan = session.container(None).plan_service().find("@latest", session.nearby())
    session.newest = plan
    return plan.id


class _Nobody:
    """Nothing has to be looked after while the command runs."""

    def started(self, process_id: int) -> None:
        """It is of no interest."""

    def descriptor(self) -> int | None:
        return None

    def attend(self) -> None:
        """There is nothing to do."""
