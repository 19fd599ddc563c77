"""`agents plan`: create, execute and show plans; other modules have the rest of the group."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click

from cleveragents.cli import frame
from cleveragents.cli.commands.options import all_option, progress_option
from cleveragents.cli.frame import CommandFailed, Lazy
from cleveragents.cli.session import Session
from cleveragents.domain.errors import ExecutionError, InterruptedByUserError, UsageError
from cleveragents.reports.report import Failure, Report

if TYPE_CHECKING:
    from cleveragents.container import Container
    from cleveragents.domain.checkpoints.operation import RecoveryOutcome
    from cleveragents.domain.plans.plan import Plan

plan = frame.group(
    "plan",
    help="Manage plans and their checkpoints",
    epilog="Examples:\n  agents plan run plan.yaml\n  agents plan rollback @latest @first",
    lazy={
        "conflicts": Lazy(
            "cleveragents.cli.commands.conflicts",
            "conflicts",
            "List and resolve conflicts between subplans",
        ),
        "apply": Lazy(
            "cleveragents.cli.commands.apply", "apply", "Apply a plan's result to the project"
        ),
        "artifacts": Lazy(
            "cleveragents.cli.commands.activity", "artifacts", "List the files that a plan changed"
        ),
        "resume": Lazy(
            "cleveragents.cli.commands.lifecycle", "resume", "Resume a plan that stopped"
        ),
        "cancel": Lazy("cleveragents.cli.commands.lifecycle", "cancel", "Cancel a plan"),
        "errors": Lazy(
            "cleveragents.cli.commands.lifecycle",
            "errors",
            "Show what went wrong and what you can do",
        ),
        "tree": Lazy("cleveragents.cli.commands.decisions", "tree", "Show the decisions of a plan"),
        "explain": Lazy("cleveragents.cli.commands.decisions", "explain", "Explain one decision"),
        "checkpoint": Lazy(
            "cleveragents.cli.commands.checkpoint", "checkpoint", "Manage a plan's checkpoints"
        ),
        "output": Lazy(
            "cleveragents.cli.commands.activity",
            "output",
            "Show what the steps and validations of a plan printed",
        ),
        "log": Lazy("cleveragents.cli.commands.activity", "log", "Show the events of a plan"),
        "rollback": Lazy(
            "cleveragents.cli.commands.history", "rollback", "Roll a plan back to a checkpoint"
        ),
        "undo": Lazy(
            "cleveragents.cli.commands.history", "undo", "Undo the last thing that a plan did"
        ),
        "redo": Lazy("cleveragents.cli.commands.history", "redo", "Redo what was undone"),
        "prompt": Lazy("cleveragents.cli.commands.correct", "prompt", "Give a plan guidance"),
        "correct": Lazy("cleveragents.cli.commands.correct", "correct", "Change a decision"),
    },
)

plan_argument = click.argument("plan_ref", metavar="PLAN")
_file_argument = click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
_project_option = click.option(
    "--project",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="DIR",
    help="The project, or any directory in its repository; by default the current one.",
)
_arg_option = click.option(
    "--arg",
    "pairs",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set an argument of the plan; can be repeated.",
)
yes_option = click.option(
    "--yes",
    "-y",
    is_flag=True,
    help="Do not ask for confirmation, even to repeat irreversible effects.",
)
_apply_option = click.option(
    "--apply", "then_apply", is_flag=True, help="Apply the result once the plan is complete."
)
_uncommitted_option = click.option(
    "--include-uncommitted",
    is_flag=True,
    help="Start from the files in the project, including uncommitted changes.",
)


_STATES = (
    *("queued", "processing", "complete", "errored", "cancelled"),
    *("conflict", "applied", "constrained"),
)


class Execute(Protocol):
    """Starts or resumes a plan and runs it to its end."""

    def __call__(self, plan_id: str, *, repeat_effects: bool) -> Plan: ...


@contextmanager
def open_plan(session: Session, text: str) -> Generator[tuple[Container, Plan]]:
    """Yields the plan that `text` names, and services with the settings of its project."""
    known = session.newest
    found = (
        known
        if known is not None and known.id == text
        else session.container(None).plan_service().find(text, session.nearby())
    )
    container = session.container(Path(found.project))
    try:
        container.join_recorder(found)
        yield container, found
    finally:
        container.close()


@plan.command(
    "run",
    help="Create a plan from a file and execute it",
    epilog="Example:\n  agents plan run plan.yaml --arg who=you",
)
@_file_argument
@_project_option
@_arg_option
@_uncommitted_option
@_apply_option
@progress_option
@frame.pass_session
def run(
    session: Session,
    file: Path,
    project: Path,
    pairs: tuple[str, ...],
    include_uncommitted: bool,
    then_apply: bool,
) -> Report:
    from cleveragents.cli.commands.apply import applied_too

    container = _container_for(session, project)
    try:
        made = container.plan_service().use(
            file, project, _arguments(pairs), include_uncommitted=include_uncommitted
        )
        done = execute_plan(session, container, made, container.plan_executor().execute, yes=True)
        if not then_apply:
            return done
        return applied_too(session, container, made.id, include_uncommitted=include_uncommitted)
    finally:
        container.close()


@plan.command(
    "use",
    help="Create a plan from a file without executing it",
    epilog="Example:\n  agents plan use plan.yaml --project ~/src/shop",
)
@_file_argument
@_project_option
@_arg_option
@_uncommitted_option
@frame.pass_session
def use(
    session: Session,
    file: Path,
    project: Path,
    pairs: tuple[str, ...],
    include_uncommitted: bool,
) -> Report:
    from cleveragents.reports.plans.plan import plan_report

    container = _container_for(session, project)
    try:
        made = container.plan_service().use(
            file, project, _arguments(pairs), include_uncommitted=include_uncommitted
        )
        status = container.plan_service().status(made.id)
    finally:
        container.close()
    return plan_report(status, ("Plan created",))


@plan.command(
    "execute",
    help="Execute a plan, or resume one that stopped",
    epilog="Example:\n  agents plan execute @latest",
)
@plan_argument
@yes_option
@progress_option
@frame.pass_session
def execute(session: Session, plan_ref: str, yes: bool) -> Report:
    with open_plan(session, plan_ref) as (container, found):
        return execute_plan(session, container, found, container.plan_executor().execute, yes=yes)


@plan.command(
    "status",
    help="Show the status of a plan",
    epilog="Example:\n  agents plan status @latest --format json",
)
@plan_argument
@frame.pass_session
def status(session: Session, plan_ref: str) -> Report:
    from cleveragents.reports.plans.plan import plan_report

    with open_plan(session, plan_ref) as (container, found):
        return plan_report(container.plan_service().status(found.id))


@plan.command(
    "list",
    help="List plans, oldest first",
    epilog="Examples:\n  agents plan list --state errored\n  agents plan list '^local/'",
)
@click.argument("pattern", metavar="[REGEX]", required=False)
@click.option(
    "--phase",
    type=click.Choice(["strategize", "execute", "apply"]),
    help="Only plans in this phase.",
)
@click.option(
    "--state",
    type=click.Choice(_STATES),
    metavar="STATE",
    help=f"Only plans in this state: {', '.join(_STATES)}.",
)
@click.option(
    "--project",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Only plans of the project that this directory is in.",
)
@click.option("--action", metavar="NAME", help="Only plans with this name.")
@click.option("--subplans", is_flag=True, help="Include subplans.")
@frame.pass_session
def list_(
    session: Session,
    pattern: str | None,
    phase: str | None,
    state: str | None,
    project: Path | None,
    action: str | None,
    subplans: bool,
) -> Report:
    from cleveragents.domain.plans.plan import PlanPhase, PlanState
    from cleveragents.reports.plans.plan import plan_list_report

    container = session.container(None)
    try:
        service = container.plan_service()
        directory = service.project_root(project) if project else None
        plans = service.list_plans(
            phase=PlanPhase(phase) if phase else None,
            state=PlanState(state) if state else None,
            project=directory,
            action=action,
            pattern=pattern,
            subplans=subplans,
        )
        activity = service.activity(plans)
    finally:
        container.close()
    filters = {
        "phase": phase,
        "state": state,
        "project": directory,
        "action": action,
        "regex": pattern,
    }
    return plan_list_report(plans, activity, filters)


@plan.command(
    "diff",
    help="Show what a plan changed, or how two of its checkpoints differ",
    epilog="Examples:\n  agents plan diff @latest\n  agents plan diff @latest @-2 @-1\n"
    "  agents plan diff --correction 01HXM8C2",
)
@click.argument("plan_ref", metavar="[PLAN]", required=False)
@click.argument("old_ref", metavar="[CHECKPOINT", required=False)
@click.argument("new_ref", metavar="[CHECKPOINT]]", required=False)
@click.option(
    "--correction",
    metavar="ID",
    help="Compare the plan with its state before this correction.",
)
@all_option
@frame.pass_session
def diff(
    session: Session,
    plan_ref: str | None,
    old_ref: str | None,
    new_ref: str | None,
    correction: str | None,
) -> Report:
    from cleveragents.reports.plans.diffs import diff_report

    if correction is not None and plan_ref is None:
        return _diff_of_correction(session, correction)
    if plan_ref is None or correction is not None:
        raise UsageError(
            "Give either a plan or `--correction`",
            hint="For example `agents plan diff @latest`",
        )
    with open_plan(session, plan_ref) as (container, found):
        service = container.checkpoint_service()
        old = service.find_checkpoint(found.id, old_ref or "@first")
        new = service.find_checkpoint(found.id, new_ref or found.last_checkpoint_id or "@latest")
        return diff_report(found, old, new, service.diff(found.id, old, new))


def _diff_of_correction(session: Session, text: str) -> Report:
    from cleveragents.reports.decisions.corrections import diff_report

    attempt = session.container(None).correction_service().find(text)
    with open_plan(session, attempt.plan_id) as (container, found):
        return diff_report(found, container.correction_service().diff(attempt))


def _container_for(session: Session, directory: Path) -> Container:
    """Returns services with the settings of the project that a directory is in."""
    from cleveragents.infrastructure.config import find_project

    return session.container(find_project(session.directory / directory, session.home))


def end_interrupted(
    session: Session, container: Container, plan_id: str, *, complete_apply: bool = True
) -> RecoveryOutcome | None:
    """Finishes or undoes an operation that a killed process left, and warns about it."""
    if container.is_remote:
        return None  # The process that records the session has done so.
    ended = container.recovery().finish(plan_id, complete_apply=complete_apply)
    container.forget_recorder(plan_id)
    if ended is not None:
        session.warnings.append(ended.sentence)
    return ended


def execute_plan(
    session: Session, container: Container, found: Plan, act: Execute, *, yes: bool
) -> Report:
    """Runs a plan with `act`; asks first if that would repeat irreversible effects."""
    from cleveragents.domain.errors import SubplanConflictError
    from cleveragents.reports.plans.plan import plan_data, plan_report

    service = container.plan_service()
    if not yes:
        yes = _repetition_is_confirmed(session, container, found)
    try:
        done = act(found.id, repeat_effects=yes)
    except (ExecutionError, SubplanConflictError) as error:
        data = plan_data(service.status(found.id))
        raise CommandFailed(Failure.of(error, data)) from error
    except (KeyboardInterrupt, InterruptedByUserError):
        raise InterruptedByUserError(
            f"Interrupted; completed steps are kept: {found.id}",
            hint=f"Run `agents plan resume {found.id}` to continue",
        ) from None
    again = done.updated_at == found.updated_at
    message = "The plan was already complete" if again else "Plan complete"
    return plan_report(service.status(found.id), (message,))


def _repetition_is_confirmed(session: Session, container: Container, found: Plan) -> bool:
    """Asks whether irreversible effects may be repeated; False if there are none."""
    effects = container.plan_resume_service().effects(found.id)
    if not effects or not session.interactive:
        return False
    session.say(
        "Continuing would repeat irreversible effects: "
        + ", ".join(str(effect) for effect in effects)
    )
    return session.confirm("Repeat them?")


def _arguments(pairs: tuple[str, ...]) -> dict[str, str]:
    arguments: dict[str, str] = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name:
            raise UsageError(f"`--arg {pair}` has no value", hint="Write it as `--arg name=value`")
        if name in arguments:
            raise UsageError(f"`--arg {name}` is given twice", hint="Leave one of them out")
        arguments[name] = value
    return arguments
