"""The process that records one session, started by `agents run`.

It holds the session's plan, watches its sandbox and takes its checkpoints, until the command and
everything that it started have ended. Nobody runs this by hand. What goes wrong is in
`logs/recorder-<plan id>.log`. It waits without using any time while nothing happens.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Collection, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from cleveragents.application.events import Event, ProgressAdvanced, Stage, WarningIssued
from cleveragents.application.ports.system import EventSink
from cleveragents.application.services.execution.bursts import BurstTimer
from cleveragents.application.services.execution.session_recorder import Recording
from cleveragents.container import Container
from cleveragents.domain.errors import CleverAgentsError, ConflictError
from cleveragents.domain.plans.session import SessionProcess
from cleveragents.domain.settings.registry import LONGEST_BURST, QUIET_TIME, Settings
from cleveragents.infrastructure.config import load_settings
from cleveragents.infrastructure.home import home_directory
from cleveragents.infrastructure.recorder.address import socket_path
from cleveragents.infrastructure.recorder.channel import (
    Channel,
    ErrorMessage,
    EventMessage,
    Request,
    ResultMessage,
)
from cleveragents.infrastructure.recorder.processes import (
    SessionProcesses,
    described,
    open_for_writing,
)
from cleveragents.infrastructure.recorder.server import RecorderServer, serving, told_to_end
from cleveragents.infrastructure.recorder.start import ENDED, STARTED
from cleveragents.infrastructure.system import progress_shown, waits_shown

_REST = 0.1
"""How long a session that writes is left alone before its changes are looked at again."""
_SHARE = 20
"""Without a watch, at most one part in so many of the time is spent on looking."""
_NO_WATCH = (
    "The system does not report which files change (is fs.inotify.max_user_watches too low?), so "
    "the session looks for changes every {seconds} seconds"
)


def main(arguments: Sequence[str]) -> int:
    """Records a session to its end; returns the exit code."""
    plan_id, descriptor = arguments
    sys.argv[0] = "agents-recorder"  # So messages name this process.
    starter = Channel(socket.socket(fileno=int(descriptor)))
    told = _Told(starter)
    answers: list[tuple[Channel, Any]] = []
    try:
        with (
            waits_shown(lambda text: told.emit(Stage(text))),
            progress_shown(
                lambda name, done, total: told.emit(ProgressAdvanced(name, done, total))
            ),
            told_to_end() as told_end,
        ):
            answers = _record(plan_id, starter, told, told_end)
    except CleverAgentsError as error:
        sys.stderr.write(f"{error.message}\n")
        starter.send(ErrorMessage.of(error))
        _close(starter)
        return error.exit_code
    for client, value in answers:
        # Only now is the plan free for whoever waits for the answer.
        client.send(ResultMessage(value))
        _close(client)
    return 0


def _close(channel: Channel) -> None:
    """Ends a connection once the other side has taken what was sent, or is gone."""
    while channel.has_more_to_send:
        channel.wait()
    channel.close()


def _record(
    plan_id: str, starter: Channel, told: _Told, told_end: int
) -> list[tuple[Channel, Any]]:
    """Records the session; returns the answers to give when its plan is free again."""
    home = home_directory(os.environ)
    with closing(_container(home, None, told)) as finder:
        project = Path(finder.plan_service().find(plan_id).project)
    # A process that has to enter the sandbox's own view of the files does so here: it has one
    # thread, and neither a lease nor an open database.
    with (
        closing(_container(home, project, told)) as container,
        container.locks().hold(plan_id),
        # Clients can connect at once, and wait until everything is as it should be.
        serving(socket_path(home, plan_id), starter) as server,
        container.session_recorder().recording(plan_id) as recording,
    ):
        settings = _settings(home, project)
        session = _Session(plan_id, container, recording, server, starter, told, settings)
        starter.send(ResultMessage(os.getpid()))
        return session.run(told_end)


def _settings(home: Path, project: Path | None) -> Settings:
    return load_settings(home=home, project=project, environ=os.environ, flags={})


def _container(home: Path, project: Path | None, events: EventSink) -> Container:
    return Container(
        home=home,
        settings=_settings(home, project),
        environment=os.environ,
        events=events,
    )


class _Told(EventSink):
    """Passes events to the client whose request is carried out; keeps warnings for the others."""

    def __init__(self, client: Channel) -> None:
        self.client: Channel | None = client
        self.kept: list[WarningIssued] = []

    def emit(self, event: Event) -> None:
        if self.client is not None:
            self.client.send(EventMessage.of(event))
        elif isinstance(event, WarningIssued) and event not in self.kept:
            sys.stderr.write(f"{event.text}\n")
            sys.stderr.flush()
            self.kept.append(event)


class _Session:
    """One session between its first and its last checkpoint."""

    def __init__(
        self,
        plan_id: str,
        container: Container,
        recording: Recording,
        server: RecorderServer,
        starter: Channel,
        told: _Told,
        settings: Settings,
    ) -> None:
        self._plan_id = plan_id
        self._container = container
        self._recording = recording
        self._server = server
        self._starter = starter
        self._told = told
        self._processes = SessionProcesses(plan_id)
        self._timer = BurstTimer(settings[QUIET_TIME], settings[LONGEST_BURST])
        self._longest = self._look_every = settings[LONGEST_BURST]
        self._looked_at = time.monotonic()
        self._rest_until = 0.0
        self._has_ended = False
        """Whether the command has ended, or nobody can tell any more: its processes count."""
        self._is_over = False
        self._answers: list[tuple[Channel, Any]] = []

    def run(self, told_end: int) -> list[tuple[Channel, Any]]:
        """Records until the session is over; returns the answers that wait for that."""
        self._told.client = None
        while not self._is_over:
            now = time.monotonic()
            wakeups = self._recording.wakeups()
            watched = wakeups if wakeups and now >= self._rest_until else ()
            others = (told_end, *watched, *self._processes.handles)
            found = self._server.wait(others, self._seconds(now, wakeups))
            for client, request in found.requests:
                self._carry_out(client, request)
            for handle in {*self._processes.handles}.intersection(found.descriptors):
                self._processes.let_go(handle)
                self._end_if_nothing_runs()
            if not self._starter.is_open and not self._has_ended:
                self._has_ended = True
                self._end_if_nothing_runs()
            if told_end in found.descriptors and not self._is_over:
                self._end("it was told to end")
                self._answers.append((self._starter, None))
            if not self._is_over:
                self._look(found.descriptors, wakeups)
        return self._answers

    def _seconds(self, now: float, wakeups: Sequence[int] | None) -> float | None:
        """Returns how long to wait: for ever if nothing was written."""
        if wakeups is None:
            return max(self._looked_at + self._look_every - now, 0.0)
        due = self._timer.due_at()
        times = [] if due is None else [due]
        if now < self._rest_until:
            times.append(self._rest_until)
        return max(min(times) - now, 0.0) if times else None

    def _look(self, found: Collection[int], wakeups: Sequence[int] | None) -> None:
        """Takes a checkpoint if a burst of writes has ended."""
        now = time.monotonic()
        if wakeups is None:
            self._look_without_watch(now)
            return
        if not set(wakeups).isdisjoint(found):
            self._recording.note_changes()
            self._timer.changed(now)
            self._rest_until = now + _REST
        due = self._timer.due_at()
        if due is not None and now >= due:
            self._burst()

    def _look_without_watch(self, now: float) -> None:
        if now < self._looked_at + self._look_every:
            return
        self._told.emit(WarningIssued(_NO_WATCH.format(seconds=round(self._look_every))))
        self._burst()
        self._looked_at = time.monotonic()
        self._look_every = max(self._longest, _SHARE * (self._looked_at - now))

    def _burst(self) -> None:
        self._timer.take()
        try:
            self._recording.burst()
        except ConflictError:
            raise  # The session is no longer this process's.
        except CleverAgentsError as error:
            self._told.emit(WarningIssued(error.message))

    def _carry_out(self, client: Channel, request: Request) -> None:
        """Carries out a request; the answer of the last one waits until the plan is free."""
        self._told.client = client
        try:
            answer = self._answer(client, request)
        except CleverAgentsError as error:
            if client is self._starter:
                raise
            client.send(ErrorMessage.of(error))
        else:
            if answer is not None:
                client.send(ResultMessage(answer))
        finally:
            self._told.client = None

    def _answer(self, client: Channel, request: Request) -> Any:
        if request.method == STARTED:
            self._processes.know_command(*request.arguments)
            return None
        if request.method == ENDED:
            return self._command_ended(client, *request.arguments)
        running = self._processes.running()
        self._recording.doubt(
            {place: open_for_writing(running, place) for place in self._recording.directories}
        )
        services = (self._container.checkpoint_service(), self._container.rollback_procedure())
        return self._container.remote_calls.answer(services, request.method, request.arguments)

    def _command_ended(self, client: Channel, exit_code: int) -> Any:
        """Returns what the command left running; None if the session is over."""
        for warning in self._told.kept:
            client.send(EventMessage.of(warning))
        self._recording.command_ended(exit_code)
        self._has_ended = True
        self._processes.forget_command()
        if left := self._end_if_nothing_runs():
            self._burst()
            return msgspec.to_builtins(left)
        self._answers.append((client, ()))
        return None

    def _end_if_nothing_runs(self) -> Sequence[SessionProcess]:
        """Ends the session if the command has ended and left nothing; returns what it left."""
        if not self._has_ended or self._is_over or self._processes.handles:
            return ()
        running = self._processes.running()
        self._processes.watch(running)
        if self._processes.handles:
            return described(running)
        self._end("the command has ended")
        return ()

    def _end(self, reason: str) -> None:
        self._recording.end(reason)
        self._is_over = True
