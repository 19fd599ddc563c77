"""`agents run`: runs any command as a session.

Everything this command says goes to stderr, before and after the command, never in between.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cleveragents.cli import output, terminal
from cleveragents.cli.frame import CommandFailed
from cleveragents.cli.session import Session
from cleveragents.domain.errors import CleverAgentsError, IsolationError, ViewUnavailableError
from cleveragents.domain.plans.session import Isolation
from cleveragents.domain.settings.formats import OutputFormat
from cleveragents.reports.report import Failure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cleveragents.application.services.session_service import SessionService
    from cleveragents.container import Container
    from cleveragents.domain.plans.plan import Plan
    from cleveragents.domain.plans.session import SessionProcess
    from cleveragents.domain.sandboxes.sandbox import SandboxRef
    from cleveragents.infrastructure.foreground import CommandNotStartedError
    from cleveragents.infrastructure.recorder.start import RecorderProcess

FAILED_BEFORE_START = 125


class SessionCommand(click.Command):
    """Never prints to stdout but for `--help`, and fails with the exit code 125."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        session: Session = ctx.obj
        session.command, session.asked_format = self.name or "", OutputFormat.PLAIN
        session.settle_format(tolerant=True)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            hint = f"Run `agents {self.name} --help` for usage"
            message = error.format_message()
            failure = Failure("usage", message, FAILED_BEFORE_START, hint, {}, None)
            raise CommandFailed(failure) from error

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(f"\n{self.epilog}\n")


@click.command(
    "run",
    cls=SessionCommand,
    context_settings={"allow_interspersed_args": False},
    help="Run any command so that what it does can be undone",
    epilog="Examples:\n"
    "  agents run -- make format\n"
    "  agents run -i -- make format\n"
    "  agents run --isolation copy --name upgrade -- npm update\n\n"
    "Exit codes: those of the command; 125 if it was not started, 126 if it cannot be\n"
    "executed, 127 if it was not found, 128 + n if signal n ended it.",
)
@click.option("-i", "in_place", is_flag=True, help="Short for --isolation in-place.")
@click.option(
    "--isolation",
    type=click.Choice([item.value for item in Isolation]),
    help="Where the command works: in a private view, on your own files, or in a copy; "
    "by default as `session.isolation` says.",
)
@click.option("--name", metavar="TEXT", help="The name of the session; by default the command's.")
@click.option(
    "--project",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The directory to run in; by default the current one.",
)
@click.option(
    "--report",
    "report_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a JSON report to this file.",
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_obj
def run(
    session: Session,
    in_place: bool,
    isolation: str | None,
    name: str | None,
    project: Path | None,
    report_file: Path | None,
    command: tuple[str, ...],
) -> None:
    from cleveragents.infrastructure.foreground import CommandNotStartedError

    try:
        code = _run(
            session,
            _asked(in_place, isolation),
            name,
            session.directory / (project or Path()),
            report_file,
            command,
        )
    except (CleverAgentsError, CommandNotStartedError) as error:
        raise failed_before_start(error) from error
    raise click.exceptions.Exit(code)


def failed_before_start(error: CleverAgentsError | CommandNotStartedError) -> CommandFailed:
    """Returns what a command says and returns that could not start another one."""
    if isinstance(error, CleverAgentsError):
        found = Failure.of(error)
        return CommandFailed(
            Failure(found.code, found.message, FAILED_BEFORE_START, found.hint, {}, None)
        )
    return CommandFailed(Failure("not_started", error.message, error.exit_code, None, {}, None))


def _asked(in_place: bool, isolation: str | None) -> Isolation | None:
    if in_place:
        return Isolation.IN_PLACE
    return None if isolation is None else Isolation(isolation)


def _run(
    session: Session,
    asked: Isolation | None,
    name: str | None,
    directory: Path,
    report_file: Path | None,
    command: tuple[str, ...],
) -> int:
    """Returns the exit code of the command."""
    from cleveragents.domain.settings.registry import ISOLATION
    from cleveragents.infrastructure.config import find_project
    from cleveragents.infrastructure.docker import docker_socket
    from cleveragents.infrastructure.foreground import (
        CommandNotStartedError,
        in_view,
        require_command,
        run_in_foreground,
    )
    from cleveragents.infrastructure.recorder.processes import SESSION_VARIABLE
    from cleveragents.reports.plans.session import docker_warning, start_line

    outer = session.environ.get(SESSION_VARIABLE)
    if outer:
        raise IsolationError(
            f"This already runs in the session {outer}",
            hint="Run the command itself: its changes are part of that session",
        )
    require_command(command[0], session.environ)
    # Spinners and bars would write while the command runs.
    session.progress = "none"
    project = find_project(directory, session.home)
    container = session.container(project)
    service, recorder = container.session_service(), container.recorder_process()

    def create(isolation: Isolation) -> tuple[Plan, SandboxRef]:
        return service.create(directory, command, isolation, name)

    isolation = asked or session.settings(project)[ISOLATION]
    if isolation is not Isolation.AUTO:
        plan, sandbox = create(isolation)
    else:
        try:
            isolation = Isolation.PRIVATE
            plan, sandbox = create(isolation)
        except ViewUnavailableError as problem:
            _require_in_place(session, problem, str(project))
            isolation = Isolation.IN_PLACE
            plan, sandbox = create(isolation)
    recorder.start(plan.id)
    _say(session, start_line(isolation, plan.project, sandbox))
    if isolation is not Isolation.IN_PLACE and (socket := docker_socket(session.environ)):
        session.warnings.append(docker_warning(socket))
    _say_warnings(session)
    inside = Path(os.path.realpath(directory)).relative_to(plan.project)
    is_view = isolation is Isolation.PRIVATE
    place = str(Path(plan.project if is_view else sandbox.path) / inside)
    environment = {**session.environ, "PWD": place, SESSION_VARIABLE: plan.id}
    if is_view:
        environment = in_view(environment, session.home / "run" / f"{plan.id}.tmux")

    def show() -> None:
        service.show_view(sandbox, recorder.process_id)

    try:
        code = run_in_foreground(command, place, environment, recorder, show if is_view else None)
    except CommandNotStartedError as error:
        _record_end(session, container, recorder, plan.id, error.exit_code)
        raise
    left = _record_end(session, container, recorder, plan.id, code)
    if is_view and not left:
        shutil.rmtree(environment["TMUX_TMPDIR"], ignore_errors=True)
    _end(session, service, plan.id, left, report_file)
    return code


def _require_in_place(session: Session, problem: ViewUnavailableError, project: str) -> None:
    """Raises the problem unless the user agrees, or has agreed before, to work in place."""
    from cleveragents.infrastructure.remembered_answers import remember_in_place, works_in_place

    answer = works_in_place(session.home, project)
    if answer is None:
        if not session.interactive:
            raise problem
        _say(session, problem.message)
        answer = session.confirm("Work on your own files instead, with checkpoints to go back to?")
        remember_in_place(session.home, project, answer)
    if not answer:
        raise problem


def _record_end(
    session: Session, container: Container, recorder: RecorderProcess, plan_id: str, code: int
) -> Sequence[SessionProcess]:
    """Has the end of the command recorded, here if need be; returns the processes that it left."""
    left = recorder.ended(code)
    if recorder.is_lost:
        try:
            with container.session_recorder().recording(plan_id) as recording:
                recording.command_ended(code)
                recording.end("the command has ended")
        except CleverAgentsError as error:
            session.warnings.append(f"The end of the session could not be recorded: {error}")
    return left


def _end(
    session: Session,
    service: SessionService,
    plan_id: str,
    left: Sequence[SessionProcess],
    report: Path | None,
) -> None:
    """Says what changed. The command has ended, so nothing here changes the exit code."""
    from cleveragents.reports.plans.session import end_lines, report_data

    try:
        result = service.result(plan_id)
    except (CleverAgentsError, OSError) as error:
        session.warnings.append(f"What the command changed cannot be shown: {error}")
    else:
        for line in end_lines(result, left):
            _say(session, line)
        if report is not None:
            _write_report(session, report, report_data(result))
    _say_warnings(session)


def _write_report(session: Session, place: Path, data: dict[str, object]) -> None:
    from cleveragents.reports.document import jsonable

    document = {
        "command": "run",
        "status": "warn" if session.warnings else "ok",
        "exit_code": data["exit_code"],
        "data": data,
        "timing": {"started": session.started, "duration_ms": session.duration_ms},
        "messages": session.warnings,
    }
    try:
        place.write_text(json.dumps(jsonable(document), indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        session.warnings.append(f"The report could not be written: {error}")


def _say(session: Session, text: str) -> None:
    """Prints a line; a terminal that is gone by now does not matter."""
    with suppress(OSError):
        line = terminal.for_stderr(terminal.visible(text), session.environ)
        terminal.write(sys.stderr, f"{line}\n")


def _say_warnings(session: Session) -> None:
    with suppress(OSError):
        output.show_warnings(session)
