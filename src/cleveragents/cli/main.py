"""The root command, and the one place where every outcome becomes an exit code."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager

import click

from cleveragents import __version__
from cleveragents.cli import output, terminal
from cleveragents.cli.frame import CommandFailed, Lazy, LazyGroup
from cleveragents.cli.session import Session, guess_format
from cleveragents.domain.errors import CleverAgentsError
from cleveragents.reports.report import Failure

COMPLETION_VARIABLE = "_AGENTS_COMPLETE"

_SHORT = "cleveragents.cli.commands.short"

COMMANDS = {
    "demo": Lazy(
        "cleveragents.cli.commands.demo", "demo", "Show how it works in a scratch repository"
    ),
    "run": Lazy("cleveragents.cli.commands.run", "run", "Run any command so that it can be undone"),
    "enter": Lazy(
        "cleveragents.cli.commands.enter", "enter", "Open a shell or run a command in a sandbox"
    ),
    "plan": Lazy("cleveragents.cli.commands.plan", "plan", "Manage plans and their checkpoints"),
    "status": Lazy(_SHORT, "status", "Show the status of a plan"),
    "log": Lazy(_SHORT, "log", "Show the events of a plan"),
    "diff": Lazy(_SHORT, "diff", "Show what a plan changed"),
    "checkpoints": Lazy(_SHORT, "checkpoints", "List a plan's checkpoints"),
    "rollback": Lazy(_SHORT, "rollback", "Roll a plan back to a checkpoint"),
    "undo": Lazy(_SHORT, "undo", "Undo the last thing that a plan did"),
    "redo": Lazy(_SHORT, "redo", "Redo what was undone"),
    "resume": Lazy(_SHORT, "resume", "Resume a plan that stopped"),
    "apply": Lazy(_SHORT, "apply", "Apply a plan's result to the project"),
    "gc": Lazy("cleveragents.cli.commands.gc", "gc", "Reclaim unused disk space"),
    "doctor": Lazy(
        "cleveragents.cli.commands.doctor", "doctor", "Check the installation and fix problems"
    ),
    "tool": Lazy("cleveragents.cli.commands.tool", "tool", "Show the tools that plans can use"),
    "config": Lazy("cleveragents.cli.commands.config", "config", "Manage the configuration"),
    "completion": Lazy(
        "cleveragents.cli.commands.completion", "completion", "Print a shell completion script"
    ),
}

EPILOG = """
Examples:
  agents demo
  agents run -- make format
  agents plan run plan.yaml
  agents rollback @-2

Exit codes: 0 success, 1 failure, 2 usage error, 3 partial success, 4 refused,
5 not found, 6 busy or conflict, 7 damaged snapshot, 8 plan failed,
10 invalid configuration, 70 bug, 130 interrupted.
"""

_FULL = (errno.ENOSPC, errno.EDQUOT)

root = LazyGroup(
    "agents",
    help="Run the plans of AI agents so that every step can be undone",
    epilog=EPILOG,
    lazy=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
click.version_option(__version__, prog_name="agents", message="%(prog)s %(version)s")(root)


def main(argv: list[str] | None = None) -> int:
    """Runs one call of `agents` and returns its exit code; never raises an `Exception`."""
    arguments = sys.argv[1:] if argv is None else argv
    session = Session(os.environ)
    try:
        with _sigterm_as_interrupt():
            return _run(session, arguments)
    except (KeyboardInterrupt, click.Abort):
        return output.show_failure(
            session, Failure("interrupted", "Interrupted", 130, None, {}, None)
        )
    except BrokenPipeError:
        terminal.silence(sys.stdout)
        return 1
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FULL:
            terminal.silence(sys.stdout)
            return output.show_failure(session, _no_space(error))
        from cleveragents.cli.bug import bug

        return output.show_failure(session, bug(error, session.environ))


def _no_space(error: OSError) -> Failure:
    """A full disk is not a bug, wherever it is met."""
    hint = "Free some space and try again"
    where = f" ({error.filename})" if error.filename else ""
    message = f"There is no space left on the disk{where}: {error.strerror}"
    return Failure("no_space", message, 1, hint, {}, None)


@contextmanager
def _sigterm_as_interrupt() -> Generator[None]:
    """Makes SIGTERM do what Ctrl-C does, unless the signal is ignored."""
    before = signal.getsignal(signal.SIGTERM)
    in_main_thread = threading.current_thread() is threading.main_thread()
    if before in (signal.SIG_IGN, None) or not in_main_thread:
        yield
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _run(session: Session, arguments: Sequence[str]) -> int:
    instruction = session.environ.get(COMPLETION_VARIABLE)
    if instruction:
        from click.shell_completion import shell_complete

        return shell_complete(root, {"obj": session}, "agents", COMPLETION_VARIABLE, instruction)
    try:
        with closing(session), root.make_context("agents", list(arguments), obj=session) as ctx:
            report = root.invoke(ctx)
        return output.show_report(session, report)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        session.asked_format = guess_format(arguments)
        session.settle_format(tolerant=True)
        return _show_click_error(session, error)
    except CommandFailed as failed:
        return output.show_failure(session, failed.failure)
    except CleverAgentsError as error:
        return output.show_failure(session, Failure.of(error))


def _show_click_error(session: Session, error: click.ClickException) -> int:
    """Shows a usage error; a group without a command shows its help instead."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        if not session.format.is_document:
            error.show()
            return error.exit_code
        message = "Missing command"
    else:
        message = error.format_message()
    typed = "agents" if session.command == "agents" else f"agents {session.command}"
    hint = f"Run `{typed} --help` for usage"
    code = "usage" if isinstance(error, click.UsageError) else "failed"
    return output.show_failure(session, Failure(code, message, error.exit_code, hint, {}, None))
