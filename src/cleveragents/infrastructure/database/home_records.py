"""What a home directory and its database know of each other.

The home has an identity, which the database stores with every sandbox. And the home notes the
newest event of the database, as its generation. So a database that was restored from a backup, or
belongs to another home, is noticed, and so is a home that was moved or copied.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.system import FaultPoints
from cleveragents.domain.errors import ConflictError, CopiedHomeError, DatabaseError
from cleveragents.domain.health.home_state import HomeState
from cleveragents.domain.plans.events import StoredEvent
from cleveragents.infrastructure.database.session import DatabaseSession
from cleveragents.infrastructure.file_locks import Presence, exclusive
from cleveragents.infrastructure.identity import (
    Identity,
    read_identity,
    state_of,
    write_identity,
)

_NOTE = "newest-event"
_DOUBT = "older-database"
_NOTE_BYTES = 100
_NOTE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC

_KNOWN = "SELECT path FROM installations WHERE home_id = :home_id"
_HOLDERS = "SELECT owner_id, command FROM locks WHERE NOT released"
_SANDBOXES = (
    "SELECT sandboxes.sandbox_id, sandboxes.plan_id, sandboxes.path, sandboxes.store,"
    " sandboxes.home_id, installations.path, installations.host FROM sandboxes"
    " LEFT JOIN installations ON installations.home_id = sandboxes.home_id"
    " WHERE sandboxes.store <> ''"
)
_APPLIES = (
    "SELECT operation_id, apply_json FROM operations"
    " WHERE plan_id = :plan_id AND apply_json IS NOT NULL"
)


class NewestEvent:
    """A note in the home of the newest event of the database, to notice an older database.

    Each event has a number that grows, a plan and a time. A database that does not have the
    noted event was restored from a backup, or belongs to another installation. Then snapshots
    that it does not know may be finished work: they are kept until the user has adopted them.

    The note lies with the mirrors: whoever restores the rest of the home from a backup, and not
    the mirrors, must not restore the note.
    """

    def __init__(self, home: Path) -> None:
        self._note = home / "mirrors" / _NOTE
        self._earlier = home / _NOTE
        self._doubt = home / _DOUBT
        self._is_doubted = False

    def saw(self, event: StoredEvent) -> None:
        """Notes a new event; without mirrors there is nothing to protect.

        The note is not synced: a power failure may lose it together with what it tells of.
        On a full disk it stays as it is, and a later event is noted.
        """
        text = f"{event.sequence} {event.plan_id}".ljust(_NOTE_BYTES).encode()
        with suppress(OSError):
            descriptor = os.open(self._note, _NOTE_FLAGS, 0o600)
            try:
                os.pwrite(descriptor, text, 0)
            finally:
                os.close(descriptor)

    def compare(self, plan_of: Callable[[int], str | None]) -> None:
        """Notes a doubt if the database does not have the event.

        MUST be called before a new event is noted.

        Args:
            plan_of: Returns the plan of the event with a number, if there is one.
        """
        for note in (self._note, self._earlier):
            try:
                number, _, plan_id = note.read_text().strip().partition(" ")
                known = plan_of(int(number)) == plan_id
            except (OSError, ValueError):
                continue  # There is none, or nobody may look at it.
            if not known:
                self.doubt()
            return

    def doubt(self) -> None:
        """Notes that the database lacks what was recorded here; the note stays until `trust`."""
        self._is_doubted = True
        with suppress(OSError):  # Reading must be possible on a full disk.
            self._doubt.touch(mode=0o600)

    def is_doubted(self) -> bool:
        """Returns whether a database was used here that did not have the event."""
        return self._is_doubted or self._doubt.exists()

    def trust(self) -> None:
        """Ends the doubt, because the database knows by now all that is here. Repeatable."""
        for place in (self._note, self._earlier, self._doubt):
            place.unlink(missing_ok=True)
        self._is_doubted = False


class HomeRecords:
    """The identity of one home directory, and the records that belong to it."""

    def __init__(
        self,
        home: Path,
        presence: Presence,
        *,
        faults: FaultPoints,
        relink: Callable[[Path], None],
        tell: Callable[[str], None],
    ) -> None:
        """Reads nothing yet.

        Args:
            home: The home directory.
            presence: Tells which processes use it.
            faults: The moments between durable steps.
            relink: Fixes what is on disk of a home that was moved. MUST be repeatable.
            tell: Gets a sentence when the home was found to be moved.
        """
        self.newest_event = NewestEvent(home)
        self._home = home
        self._presence = presence
        self._faults = faults
        self._relink = relink
        self._tell = tell
        self._identity: Identity | None = None
        self.id: str | None = None
        """The id of the home, once the database was opened."""
        self._separates = False

    def state(self) -> HomeState:
        return state_of(self._home, read_identity(self._home))

    def is_elsewhere(self) -> bool:
        """Returns whether its records or links may name another place."""
        return self.state() in (HomeState.MOVED, HomeState.COPIED)

    def original(self) -> str | None:
        """Returns where the home was when its identity was written."""
        found = read_identity(self._home)
        return found.path if found is not None else None

    def separate(self) -> None:
        """Lets a copy become a home of its own when the database is next opened."""
        self._separates = True

    def admit(self) -> None:
        """Raises CopiedHomeError if the home is a copy; costs one small file to read."""
        self._identity = read_identity(self._home)
        self.id = self._identity.id if self._identity is not None else None
        if (
            self._identity is not None
            and not self._separates
            and state_of(self._home, self._identity) is HomeState.COPIED
        ):
            raise CopiedHomeError(str(self._home), self._identity.path)

    def compare(self, session: DatabaseSession) -> bool:
        """Compares home and database; returns whether `settle` has nothing to do."""
        self.newest_event.compare(lambda number: _plan_of_event(session, number))
        if self._identity is None:
            return False
        known = session.rows(_KNOWN, home_id=self._identity.id)
        if not known:
            # Another database, or one from before this home had its identity.
            self.newest_event.doubt()
        return bool(known) and state_of(self._home, self._identity) is HomeState.SETTLED

    def settle(
        self, transaction: Callable[[Callable[[DatabaseSession], None]], None], *, private: bool
    ) -> None:
        """Gives the home its identity, or makes the records and links of a moved one right.

        Every step is repeatable, and the identity is written last: a kill before that leaves a
        home that is settled again by the next command.

        Args:
            transaction: Runs a function in one write transaction.
            private: Whether no other home uses the database.

        Raises:
            ConflictError: The home was moved while a process works on one of its plans.
            DatabaseError: Files of the home cannot be written.
        """
        try:
            with exclusive(self._home / "identity.lock"):
                found = read_identity(self._home)
                state = state_of(self._home, found)
                if state is HomeState.SETTLED and found is not None:
                    identity = found
                elif state is HomeState.MOVED and found is not None:
                    identity = Identity(found.id, str(self._home))
                else:
                    identity = Identity(os.urandom(16).hex(), str(self._home))
                moves = state in (HomeState.MOVED, HomeState.COPIED)
                transaction(
                    lambda session: self._record(session, identity, private=private, moves=moves)
                )
                self._faults.reach(FaultPoint.HOME_RECORDED)
                if state is not HomeState.SETTLED:
                    self._relink(self._home)
                    self._faults.reach(FaultPoint.HOME_RELINKED)
                    if identity != found:
                        write_identity(self._home, identity)
        except OSError as error:
            raise DatabaseError(
                f"The home directory {self._home} was moved, and its files cannot be "
                f"adjusted: {error.strerror or error}",
                hint="Make room there, or give permission",
            ) from error
        self._identity, self.id, self._separates = identity, identity.id, False
        if moves and found is not None:
            self._tell(
                f"The home directory was {state.value} from {found.path}; "
                "its plans now use the sandboxes here"
            )

    def _record(
        self, session: DatabaseSession, identity: Identity, *, private: bool, moves: bool
    ) -> None:
        if moves:
            self._refuse_while_used(session)
        values = {"home_id": identity.id, "path": identity.path, "host": socket.gethostname()}
        if not session.run(
            "UPDATE installations SET path = :path, host = :host WHERE home_id = :home_id", **values
        ).rowcount:
            session.run(
                "INSERT INTO installations (home_id, path, host, created_at)"
                " VALUES (:home_id, :path, :host, :now)",
                **values,
                now=datetime.now(UTC),
            )
        for sandbox_id, plan_id, path, store, home_id, owner, host in session.rows(_SANDBOXES):
            at_this_path = path.startswith(f"{self._home}/") and owner in (None, str(self._home))
            ours = home_id == identity.id or private
            ours = ours or (at_this_path and host in (None, values["host"]))
            place = self._home / "mirrors" / Path(store).name
            _, _, inside = path.rpartition(f"/sandboxes/{plan_id}/")
            if not ours or not inside or not place.is_dir():
                continue
            here = str(self._home / "sandboxes" / plan_id / inside)
            if (here, str(place), identity.id) != (path, store, home_id):
                moved = {"path": here, "store": str(place), "home_id": identity.id}
                _move(session, sandbox_id, plan_id, path, store, moved)

    def _refuse_while_used(self, session: DatabaseSession) -> None:
        for owner_id, command in session.rows(_HOLDERS):
            if self._presence.is_running(owner_id):
                raise ConflictError(
                    f"The home directory {self._home} was moved while `{command}` works there",
                    hint="Wait until it is done, or stop that process",
                )


def _move(
    session: DatabaseSession,
    sandbox_id: str,
    plan_id: str,
    path: str,
    store: str,
    moved: dict[str, str],
) -> None:
    """Makes the records of one sandbox name its new place, wherever they have the old one."""
    session.run(
        "UPDATE sandboxes SET path = :path, store = :store, home_id = :home_id"
        " WHERE sandbox_id = :sandbox_id",
        sandbox_id=sandbox_id,
        **moved,
    )
    session.run(
        "UPDATE checkpoint_metadata SET filesystem_path = :path"
        " WHERE plan_id = :plan_id AND filesystem_path = :old",
        plan_id=plan_id,
        path=moved["path"],
        old=path,
    )
    for operation_id, text in session.rows(_APPLIES, plan_id=plan_id):
        session.run(
            "UPDATE operations SET apply_json = :text WHERE operation_id = :operation_id",
            operation_id=operation_id,
            text=text.replace(json.dumps(store), json.dumps(moved["store"])),
        )


def _plan_of_event(session: DatabaseSession, number: int) -> str | None:
    rows = session.rows("SELECT plan_id FROM events WHERE sequence = :number", number=number)
    return rows[0][0] if rows else None
