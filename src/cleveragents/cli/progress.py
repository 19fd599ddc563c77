"""What happens while a command runs, on stderr: as status lines or as JSON lines."""

from __future__ import annotations

import sys
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cleveragents.application.events import (
    Event,
    ProgressAdvanced,
    Stage,
    StepFinished,
    StepStarted,
    SubplanFinished,
    SubplanStarted,
    WarningIssued,
)
from cleveragents.application.ports.system import EventSink
from cleveragents.cli import terminal
from cleveragents.domain.plans.events import StoredEvent, ToolRetried
from cleveragents.reports.document import timestamp

if TYPE_CHECKING:
    from cleveragents.cli.session import Session


_BAR = 30


class TerminalEvents(EventSink):
    """Says what happens as it happens; warnings also go into the command's report."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def emit(self, event: Event) -> None:
        match event:
            case Stage():
                self._session.say(f"{event.name} …")
            case ProgressAdvanced():
                self._draw(event)
            case StepStarted():
                number = f"Step {event.step_index + 1} of {event.steps}"
                self._session.say(f"{number}: {event.name} ({event.tool})")
            case StepFinished() if not event.succeeded:
                self._session.say(f"Step {event.step_index + 1} failed.")
            case SubplanStarted():
                again = f", attempt {event.attempt}" if event.attempt > 1 else ""
                self._session.say(f"Subplan {event.name} began{again}.")
            case SubplanFinished():
                how = "is done" if event.succeeded else "failed"
                self._session.say(f"Subplan {event.name} {how}.")
            case StoredEvent(type=ToolRetried.type, data=facts):
                retry = f"{facts['retry']} of {facts['max_retries']}"
                self._session.say(f"Trying again ({retry}) …")
            case WarningIssued():
                self._session.warnings.append(event.text)
            case _:
                pass

    def _draw(self, event: ProgressAdvanced) -> None:
        """Draws a bar over itself, which only a terminal can show."""
        if terminal.is_terminal(sys.stderr) and self._session.progress == "auto":
            filled = "#" * (_BAR * event.done // event.total)
            end = "\n" if event.done == event.total else ""
            line = f"\r{event.name} [{filled:<{_BAR}}] {event.done} of {event.total}{end}"
            terminal.write(sys.stderr, line)


class JsonLinesEvents(EventSink):
    """Prints every event as one JSON object a line, at once; warnings also go into the report."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def emit(self, event: Event) -> None:
        if isinstance(event, WarningIssued):
            self._session.warnings.append(event.text)
        terminal.write_line(sys.stderr, _line(event))


def _line(event: Event) -> dict[str, object]:
    if isinstance(event, StoredEvent):
        told = {"type": event.type, "plan_id": event.plan_id, "at": timestamp(event.created_at)}
        return {**told, "sequence": event.sequence, "data": event.data}
    facts = asdict(event)
    told = {"type": event.type, "plan_id": facts.pop("plan_id", None)}
    return {**told, "at": timestamp(datetime.now(UTC)), "data": facts}


def events_for(session: Session) -> EventSink:
    """Returns what tells the user of this call what happens."""
    return JsonLinesEvents(session) if session.progress == "json" else TerminalEvents(session)
