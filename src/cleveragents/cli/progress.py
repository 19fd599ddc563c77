"""Progress of a running plan, as status lines on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cleveragents.application.events import Event, Stage, StepFinished, StepStarted, Warned
from cleveragents.application.ports import EventSink

if TYPE_CHECKING:
    from cleveragents.cli.session import Session


class TerminalEvents(EventSink):
    """Says what happens as it happens; warnings also go into the command's report."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def emit(self, event: Event) -> None:
        match event:
            case Stage():
                self._session.say(f"{event.name} …")
            case StepStarted():
                number = f"Step {event.step_index + 1} of {event.steps}"
                self._session.say(f"{number}: {event.name} ({event.tool})")
            case StepFinished() if not event.succeeded:
                self._session.say(f"Step {event.step_index + 1} failed.")
            case Warned():
                self._session.warnings.append(event.text)
            case _:
                pass


def terminal_events(session: Session) -> TerminalEvents:
    return TerminalEvents(session)
