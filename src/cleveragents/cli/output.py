"""Shows the outcome of a call, a report or a failure, in the chosen format.

stdout carries only the result. In `json` and `yaml` a failure is a result too.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial

from cleveragents.cli import terminal
from cleveragents.cli.session import Session
from cleveragents.domain.settings.formats import OutputFormat
from cleveragents.reports.document import timestamp
from cleveragents.reports.report import Failure, Report


def show_report(session: Session, report: Report) -> int:
    """Prints a report and returns the exit code, which is 1 if printing failed."""
    warnings = [*session.warnings, *report.warnings]
    if session.format.is_document:
        status = "warn" if warnings and report.status == "ok" else report.status
        error = {} if report.error is None else {"error": Failure.of(report.error).error}
        text = _document(
            session,
            {"status": status, "exit_code": report.exit_code, "data": report.data},
            [*report.messages, *warnings],
            **error,
        )
    else:
        text = _drawn(session, report)
        messages = report.messages if session.format is OutputFormat.PLAIN else ()
        _print_messages(session, warnings, messages)
    return report.exit_code if _printed(text) else 1


def show_failure(session: Session, failed: Failure) -> int:
    """Prints a failure and returns its exit code."""
    if session.format.is_document:
        outcome = {"status": "error", "exit_code": failed.exit_code, "data": failed.data}
        _printed(_document(session, outcome, session.warnings, error=failed.error))
        return failed.exit_code
    _print_messages(session, session.warnings, ())
    say = partial(_label, session)
    say("Error:", terminal.RED, failed.message)
    if failed.hint is not None:
        say("Hint:", terminal.CYAN, failed.hint)
    return failed.exit_code


def show_warnings(session: Session) -> None:
    """Prints the warnings there are so far, each of them once."""
    _print_messages(session, session.warnings, ())
    session.warnings.clear()


def _drawn(session: Session, report: Report) -> str:
    color = terminal.wants_color(sys.stdout, session.asked_color, session.environ)
    room, every_row = terminal.screen_width(sys.stdout, session.environ), session.every_row
    match session.format:
        case OutputFormat.RICH:
            from cleveragents.cli.printers.panels import panels

            encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
            return panels(
                report,
                color=color,
                encoding=encoding,
                room=room or terminal.USUAL_WIDTH,
                every_row=every_row,
            )
        case OutputFormat.COLOR:
            from cleveragents.cli.printers.color import colored

            color = color or _color_was_chosen(session)
            return colored(report, color=color, room=room, every_row=every_row)
        case OutputFormat.TABLE:
            from cleveragents.cli.printers.grid import grid

            return grid(report, room=room, every_row=every_row)
        case _:
            from cleveragents.cli.printers.plain import plain

            return plain(report)


def _color_was_chosen(session: Session) -> bool:
    """A user who asks for `color` wants it in a pipe too, unless the environment forbids it."""
    forbidden = session.environ.get("NO_COLOR") or session.environ.get("TERM") == "dumb"
    return session.asked_color == "auto" and not forbidden


def _document(
    session: Session,
    outcome: Mapping[str, object],
    messages: list[str],
    **error: object,
) -> str:
    from cleveragents.cli.printers.document import serialise

    timing = {"started": session.started, "duration_ms": session.duration_ms}
    document = {"command": session.command, **outcome, "timing": timing, "messages": messages}
    return serialise({**document, **error}, session.format)


def _print_messages(session: Session, warnings: list[str], messages: tuple[str, ...]) -> None:
    for warning in warnings:
        _label(session, "Warning:", terminal.YELLOW, warning)
    for message in messages:
        if not _printed_as_json(session, "report.message", message):
            terminal.write(sys.stderr, f"{terminal.for_stderr(message, session.environ)}\n")


def _printed_as_json(session: Session, kind: str, text: str) -> bool:
    """Prints a message as a JSON line and returns True, if the user asked for JSON lines."""
    if session.progress != "json":
        return False
    line = {"type": kind, "plan_id": None, "at": timestamp(datetime.now(UTC))}
    terminal.write_line(sys.stderr, {**line, "data": {"text": text}})
    return True


def _label(session: Session, label: str, style: str, text: str) -> None:
    if _printed_as_json(session, f"report.{label.strip(':').lower()}", text):
        return
    color = terminal.wants_color(sys.stderr, session.asked_color, session.environ)
    said = terminal.for_stderr(f"{label} {text}", session.environ).removeprefix(label)
    terminal.write(sys.stderr, f"{terminal.paint(label, style, color=color)}{said}\n")


def _printed(text: str) -> bool:
    try:
        terminal.write(sys.stdout, text)
    except OSError as error:
        terminal.write(sys.stderr, f"Error: The result could not be written: {error.strerror}\n")
        return False
    return True
