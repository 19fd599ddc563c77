"""Progress of a running plan, as status lines on stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from cleveragents.application.events import (
    Advanced,
    Event,
    Stage,
    StepFinished,
    StepStarted,
    Warned,
)
from cleveragents.application.ports import EventSink
from cleveragents.cli import terminal

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
            case Advanced():
                self._draw(event)
            case StepStarted():
                number = f"Step {event.step_index + 1} of {event.steps}"
                self._session.say(f"{number}: {event.name} ({event.tool})")
            case StepFinished() if not event.succeeded:
                self._session.say(f"Step {event.step_index + 1} failed.")
            case Warned():
                self._session.warnings.append(event.text)
            case _:
                pass

    def _draw(self, event: Advanced) -> None:
        """Draws a bar over itself, which only a terminal can show."""
        if terminal.is_terminal(sys.stderr):
            filled = "#" * (_BAR * event.done // event.total)
            end = "\n" if event.done == event.total else ""
            line = f"\r{event.name} [{filled:<{_BAR}}] {event.done} of {event.total}{end}"
            terminal.write(sys.stderr, line)


def terminal_events(session: Session) -> TerminalEvents:
    return TerminalEvents(session)
