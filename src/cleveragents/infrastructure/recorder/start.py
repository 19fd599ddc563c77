"""Starts the process that records a session, and another one if that dies.

The process leads a session of its own, so the terminal's signals and its end do not reach it. The
connection over which it is started tells each side when the other one has ended.
"""

from __future__ import annotations

import socket
import subprocess  # nosec B404 # this package itself
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec

from cleveragents.application.events import WarningIssued
from cleveragents.application.ports.system import EventSink
from cleveragents.domain.errors import CleverAgentsError, ExecutionError, RecorderGoneError
from cleveragents.domain.plans.session import SessionProcess
from cleveragents.infrastructure.home import VARIABLE, create_private_directory
from cleveragents.infrastructure.recorder.address import supervising
from cleveragents.infrastructure.recorder.client import RecorderClient

STARTED = "started"
"""The request that tells the process of the command."""
ENDED = "ended"
"""The request that tells the exit code of the command."""
_MOST_STARTS = 10
"""A process that dies each time is not started for ever."""


class RecorderProcess:
    """The process that records one session, as `agents run` sees it."""

    def __init__(
        self,
        command: Sequence[str],
        home: Path,
        environment: Mapping[str, str],
        events: EventSink,
    ) -> None:
        """Args: `command` is the command line, to which the plan and a descriptor are added."""
        self._command = command
        self._home = home
        self._environment = {**environment, VARIABLE: str(home)}
        self._events = events
        self._plan_id = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._client: RecorderClient | None = None
        self._command_id: int | None = None
        self._starts = 0
        self._supervision = ExitStack()
        self.is_lost = False
        """Whether the session goes on, and nothing could be started that records it."""

    def start(self, plan_id: str) -> None:
        """Starts the process, and waits until the session has its first checkpoint.

        Raises:
            CleverAgentsError: what keeps it from recording.
        """
        self._plan_id = plan_id
        if self._starts == 0:
            self._supervision.enter_context(supervising(self._home, plan_id))
        while True:
            try:
                self._start()
                return
            except RecorderGoneError:
                if self._starts >= _MOST_STARTS:
                    raise

    def _start(self) -> None:
        self._starts += 1
        ours, theirs = socket.socketpair()
        logs = create_private_directory(self._home / "logs")
        with theirs, open(logs / f"recorder-{self._plan_id}.log", "ab") as log:
            try:
                self._process = subprocess.Popen(  # nosec B603
                    [*self._command, self._plan_id, str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=self._environment,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            except OSError as error:
                ours.close()
                raise ExecutionError(
                    f"The process that records the session cannot be started: {error}"
                ) from error
        client = RecorderClient(ours, self._events)
        try:
            client.answer()
        except BaseException:
            client.close()
            self._process.wait()
            raise
        self._client = client

    @property
    def process_id(self) -> int:
        """The process that records now, and uses the sandbox."""
        if self._process is None:
            raise RecorderGoneError
        return self._process.pid

    def started(self, process_id: int) -> None:
        """Tells which process the command is."""
        self._command_id = process_id
        if self._client is not None:
            self._client.tell(STARTED, [process_id])

    def descriptor(self) -> int | None:
        """Returns what can be read once `attend` has something to do."""
        return self._client.fileno() if self._client is not None else None

    def attend(self) -> None:
        """Starts another process if the one that recorded the session is gone."""
        if self._client is None:
            return
        try:
            self._client.answer()
        except RecorderGoneError:
            self._lose()
            self._go_on()
        except CleverAgentsError as error:
            self._give_up(error)
        else:
            self._warn(
                "The session was ended while its command ran, so what the command wrote since "
                "is in no checkpoint"
            )
            self._lose()

    def ended(self, exit_code: int) -> Sequence[SessionProcess]:
        """Tells how the command ended, and waits until the end is recorded.

        Returns:
            The processes that the command left, for whose end the session waits.
        """
        while self._client is not None:
            try:
                left = self._client.ask(ENDED, [exit_code])
            except RecorderGoneError:
                self._lose()
                self._go_on()
            except CleverAgentsError as error:
                self._give_up(error)
            else:
                self._supervision.close()
                survivors = msgspec.convert(left, tuple[SessionProcess, ...])
                if not survivors and self._process is not None:
                    self._process.wait()  # So that nobody finds the plan still held.
                return survivors
        return ()

    def _go_on(self) -> None:
        """Has another process continue, or warns that there is none."""
        try:
            if self._starts >= _MOST_STARTS:
                raise RecorderGoneError
            self.start(self._plan_id)
        except CleverAgentsError as error:
            self._give_up(error)
            return
        if self._command_id is not None:
            self.started(self._command_id)

    def _give_up(self, error: CleverAgentsError) -> None:
        self._warn(f"The session could not be recorded to its end: {error.message}")
        self._lose()
        self._supervision.close()
        self.is_lost = True

    def _lose(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
        if self._process is not None:
            self._process.wait()

    def _warn(self, text: str) -> None:
        self._events.emit(WarningIssued(text))
