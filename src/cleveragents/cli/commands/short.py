"""`agents status`, `agents rollback` and so on: commands of `agents plan`, without `plan`.

PLAN may be left out. It is then the newest plan of the current project, and the command says which
plan that is. An argument that starts with `@` is a checkpoint here if the command takes one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from cleveragents.cli.frame import ReportCommand
from cleveragents.cli.session import Session
from cleveragents.domain.errors import (
    AmbiguousIdError,
    CheckpointNotFoundError,
    CheckpointPlanMismatchError,
    PlanNotFoundError,
    UsageError,
)
from cleveragents.reports.report import Report

if TYPE_CHECKING:
    from cleveragents.container import Container
    from cleveragents.domain.plans.plan import Plan

_NEWEST = "@latest"
_EVERYWHERE = {"format", "color", "no_input"}
"""The options that each command gets by itself."""


class _Form(NamedTuple):
    """The command that a short form stands for."""

    module: str
    attribute: str
    examples: str
    checkpoints: int = 0
    """How many checkpoints it takes after the plan."""


_FORMS = {
    "status": _Form("plan", "status", "agents status\nagents status 01HXM8C2 --format json"),
    "log": _Form("activity", "log", "agents log\nagents log --type tool --limit 5"),
    "diff": _Form("plan", "diff", "agents diff\nagents diff @-2 @-1", checkpoints=2),
    "checkpoints": _Form("checkpoint", "list_", "agents checkpoints\nagents checkpoints --all"),
    "rollback": _Form(
        "history",
        "rollback",
        "agents rollback\nagents rollback @-2 --dry-run\nagents rollback 'before clean up'",
        checkpoints=1,
    ),
    "undo": _Form("history", "undo", "agents undo"),
    "redo": _Form("history", "redo", "agents redo"),
    "resume": _Form("lifecycle", "resume", "agents resume --dry-run\nagents resume"),
    "apply": _Form("apply", "apply", "agents apply --dry-run\nagents apply --branch greeting"),
}


def __getattr__(name: str) -> ReportCommand:
    """Builds a short form when it is called, so that the other commands are not imported."""
    if name not in _FORMS:
        raise AttributeError(name)
    form = _FORMS[name]
    full: ReportCommand = getattr(
        import_module(f"cleveragents.cli.commands.{form.module}"), form.attribute
    )
    return _short(name, full, form)


def _short(name: str, full: ReportCommand, form: _Form) -> ReportCommand:
    arguments = [param for param in full.params if isinstance(param, click.Argument)]
    options = [
        param
        for param in full.params
        if isinstance(param, click.Option) and param.name not in _EVERYWHERE
    ]
    run = cast("Callable[..., Report]", full.callback)

    def act(references: tuple[str, ...], **chosen: Any) -> Report:
        session: Session = click.get_current_context().obj
        # `diff --correction` takes neither a plan nor checkpoints.
        given = [] if chosen.get("correction") else _completed(session, references, form)
        names = [argument.name or "" for argument in arguments]
        return run(**dict(zip_longest(names, given)), **chosen)

    metavar = " ".join(["[PLAN]", *["[CHECKPOINT]"] * form.checkpoints])
    examples = "".join(f"\n  {line}" for line in form.examples.splitlines())
    return ReportCommand(
        name,
        callback=act,
        params=[click.Argument(["references"], nargs=-1, metavar=metavar), *options],
        help=full.help,
        epilog=f"Without PLAN, the newest plan of the current project. "
        f"`agents plan {full.name} --help` says more.\n\nExamples:{examples}",
    )


def _completed(session: Session, references: Sequence[str], form: _Form) -> list[str]:
    """Returns the plan and the checkpoints that the user named, in this order."""
    most = form.checkpoints + 1
    if len(references) > most:
        raise UsageError(f"Unexpected argument `{references[most]}`")
    container = session.container(None)
    has_plan = len(references) == most
    if references and not has_plan:
        has_plan = _is_plan(session, container, references[0], form)
    if has_plan:
        return [*references]
    newest = session.newest = container.plan_service().find(_NEWEST, session.nearby())
    session.say(f"Plan {newest.id} ({newest.name})")
    return [newest.id, *references]


def _is_plan(session: Session, container: Container, text: str, form: _Form) -> bool:
    """Says whether a first argument, with room for another one after it, names a plan.

    Raises:
        UsageError: it names a plan and a checkpoint of the newest plan.
    """
    if text.startswith("@"):
        return not form.checkpoints
    plans = container.plan_service()
    if not _is_found(lambda: plans.find(text)):
        return False

    def newest() -> Plan:
        return plans.find(_NEWEST, session.nearby())

    checkpoints = container.checkpoint_service()
    if _is_found(lambda: checkpoints.find_checkpoint(newest().id, text)):
        raise UsageError(
            f"`{text}` matches both a plan and a checkpoint of the newest plan",
            hint="Give more characters of the id",
        )
    return True


def _is_found(find: Callable[[], object]) -> bool:
    try:
        find()
    except AmbiguousIdError:
        return True
    except (PlanNotFoundError, CheckpointNotFoundError, CheckpointPlanMismatchError):
        return False
    return True
