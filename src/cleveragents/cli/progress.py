"""Progress of a running command on stderr: status lines for people, or JSON lines."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from cleveragents.application.events import (
    Event,
    ProgressAdvanced,
    Stage,
    StepFinished,
    StepStarted,
    SubplanFinished,
    SubplanStarted,
    ToolPrinted,
    WarningIssued,
)
from cleveragents.application.ports.system import EventSink
from cleveragents.cli import terminal
from cleveragents.cli.spinner import Spinner
from cleveragents.domain.plans.events import StoredEvent, ToolRetried
from cleveragents.reports.document import timestamp
from cleveragents.reports.printed import marked_lines

if TYPE_CHECKING:
    from cleveragents.cli.session import Session


_BAR = 30


class TerminalEvents(EventSink):
    """Prints a status line for events that people care about; collects warnings."""

    def __init__(self, session: Session) -> None:
        self._warnings = session.warnings
        self._environ = session.environ
        # Format and options are settled before services are built, so this is decided once
        # rather than for each event.
        self._is_shown = session.shows_status
        self._draws_bars = self._is_shown and terminal.is_terminal(sys.stderr)
        self._is_verbose = self._is_shown and session.verbose
        turns = self._draws_bars and not session.verbose and session.environ.get("TERM") != "dumb"
        self._spinner = Spinner(sys.stderr) if turns else None
        self._bar = ""
        """The name of the bar that is not yet full."""
        self._unfinished = {False: "", True: ""}
        """What was printed after the last end of a line, by whether it went to stderr."""

    def emit(self, event: Event) -> None:
        if isinstance(event, WarningIssued):
            self._warnings.append(event.text)
        elif isinstance(event, ToolPrinted):
            if self._is_verbose:
                self._show_output(event)
        elif isinstance(event, ProgressAdvanced):
            if self._draws_bars:
                self._show_bar(event)
        elif self._is_shown:
            self._show_status(event)

    def close(self) -> None:
        self._pause()
        self._flush_output()

    def _show_status(self, event: Event) -> None:
        line = _status_line(event)
        if isinstance(event, StepFinished) or line is not None:
            self.close()
        if line is not None:
            terminal.write(sys.stderr, f"{terminal.for_stderr(line, self._environ)}\n")
        if self._spinner is not None and isinstance(event, StepStarted | Stage | SubplanStarted):
            self._spinner.start()

    def _show_bar(self, event: ProgressAdvanced) -> None:
        if self._bar != event.name:
            self._pause()
        self._bar = event.name if event.done < event.total else ""
        terminal.write(sys.stderr, _bar(event))

    def _show_output(self, event: ToolPrinted) -> None:
        *lines, rest = (self._unfinished[event.stderr] + event.text).split("\n")
        self._unfinished[event.stderr] = rest
        for line in lines:
            _print_output(line, stderr=event.stderr)

    def _flush_output(self) -> None:
        for stderr, line in self._unfinished.items():
            if line:
                _print_output(line, stderr=stderr)
        self._unfinished = {False: "", True: ""}

    def _pause(self) -> None:
        """Leaves the cursor at the start of a line."""
        if self._spinner is not None:
            self._spinner.stop()
        if self._bar:
            self._bar = ""
            terminal.write(sys.stderr, "\n")


def _print_output(line: str, *, stderr: bool) -> None:
    (marked,) = marked_lines([(line or " ", stderr)])
    terminal.write(sys.stderr, f"{terminal.visible_lines(marked).rstrip()}\n")


def _status_line(event: Event) -> str | None:
    match event:
        case Stage(name=name):
            return f"{name} …"
        case StepStarted():
            return f"Step {event.step_index + 1} of {event.steps}: {event.name} ({event.tool})"
        case StepFinished(succeeded=False):
            return f"Step {event.step_index + 1} failed."
        case SubplanStarted(name=name, attempt=1):
            return f"Subplan {name} started."
        case SubplanStarted(name=name, attempt=attempt):
            return f"Subplan {name} started, attempt {attempt}."
        case SubplanFinished(name=name, succeeded=succeeded):
            return f"Subplan {name} {'finished' if succeeded else 'failed'}."
        case StoredEvent(type=ToolRetried.type, data=facts):
            return f"Retrying ({facts['retry']} of {facts['max_retries']}) …"
        case _:
            return None


def _bar(event: ProgressAdvanced) -> str:
    """Returns a progress bar that overwrites itself, which only a terminal can show."""
    filled = "#" * (_BAR * event.done // event.total)
    end = "\n" if event.done == event.total else ""
    return f"\r{event.name} [{filled:<{_BAR}}] {event.done} of {event.total}{end}"


class JsonLinesEvents(EventSink):
    """Prints every event as a JSON object on a line of its own; collects warnings."""

    def __init__(self, session: Session) -> None:
        self._warnings = session.warnings

    def close(self) -> None:
        return None

    def emit(self, event: Event) -> None:
        if isinstance(event, WarningIssued):
            self._warnings.append(event.text)
        terminal.write_line(sys.stderr, _json_line(event))


def _json_line(event: Event) -> dict[str, object]:
    if isinstance(event, StoredEvent):
        return {
            "type": event.type,
            "plan_id": event.plan_id,
            "at": timestamp(event.created_at),
            "sequence": event.sequence,
            "data": event.data,
        }
    facts = msgspec.structs.asdict(event)
    return {
        "type": event.type,
        "plan_id": facts.pop("plan_id", None),
        "at": timestamp(datetime.now(UTC)),
        "data": facts,
    }


def events_for(session: Session) -> TerminalEvents | JsonLinesEvents:
    """Returns the event sink that shows progress the way the user asked for."""
    return JsonLinesEvents(session) if session.progress == "json" else TerminalEvents(session)
