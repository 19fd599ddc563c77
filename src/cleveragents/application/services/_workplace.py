"""The sandboxes a plan works in: made at its first run, and made anew where one was lost."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from cleveragents.application.events import Stage, Warned
from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports import (
    Database,
    EventSink,
    FaultPoints,
    IdSource,
    Sandboxes,
    SnapshotStore,
)
from cleveragents.domain.errors import SandboxMissingError
from cleveragents.domain.sandbox import Resource, SandboxRef, SandboxStrategy


class Workplace:
    """Makes sandboxes, and tells what a plan's sandboxes lack."""

    def __init__(
        self,
        database: Database,
        sandboxes: Sandboxes,
        snapshots: SnapshotStore,
        id_source: IdSource,
        events: EventSink,
        faults: FaultPoints,
    ) -> None:
        self._database = database
        self._sandboxes = sandboxes
        self._snapshots = snapshots
        self._ids = id_source
        self._events = events
        self._faults = faults

    def ready(self, plan_id: str) -> Sequence[SandboxRef]:
        """Returns the plan's sandboxes, made now if this is its first run.

        One that is gone is made anew and empty, for its last checkpoint to fill.

        Raises:
            SandboxMissingError: something that is not ours stands in the place of one.
        """
        with self._database.read() as transaction:
            sandboxes = transaction.sandboxes.list(plan_id)
            resources = transaction.sandboxes.resources(plan_id)
        for sandbox in sandboxes:
            self._mend(sandbox)
        return sandboxes or self._make(plan_id, resources)

    def _mend(self, sandbox: SandboxRef) -> None:
        """Makes a sandbox that is gone anew, without what it held."""
        try:
            self._sandboxes.check(sandbox)
        except SandboxMissingError as error:
            self._sandboxes.reopen(sandbox)
            self._events.emit(Warned(f"{error.message}; it was made anew"))

    def recheck(self, sandboxes: Sequence[SandboxRef]) -> None:
        """Looks at everything once more, so that nothing the system did not tell of is missing."""
        for sandbox in sandboxes:
            missed = self._snapshots.recheck(sandbox)
            if missed:
                self._events.emit(
                    Warned(
                        f"Changes in `{sandbox.resource}` came in without notice, and only the "
                        f"last checkpoint has them: {', '.join(missed[:5])}"
                        + (f" and {len(missed) - 5} more" if len(missed) > 5 else "")
                    )
                )

    def _make(self, plan_id: str, resources: Sequence[Resource]) -> Sequence[SandboxRef]:
        self._events.emit(Stage("Preparing the sandbox"))
        # While git works, this process has nothing to do.
        threading.Thread(target=self._database.prepare, daemon=True).start()
        made: list[SandboxRef] = []
        try:
            for resource in resources:
                made.append(self._sandboxes.create(self._ids.new(), plan_id, resource))
                self._faults.reach(FaultPoint.SANDBOX_MADE)
        except BaseException:
            for sandbox in made:
                self._sandboxes.remove(sandbox)
            raise
        with self._database.write() as transaction:
            for sandbox in made:
                transaction.sandboxes.add(sandbox)
        self._faults.reach(FaultPoint.SANDBOXES_RECORDED)
        for sandbox in made:
            self._tell_what_is_missing(sandbox)
        return made

    def _tell_what_is_missing(self, sandbox: SandboxRef) -> None:
        if sandbox.strategy is SandboxStrategy.NONE:
            self._events.emit(
                Warned(
                    f"The resource `{sandbox.resource}` is worked on itself, without a sandbox: "
                    f"nothing done to {sandbox.path} can be rolled back"
                )
            )
        for item in sandbox.skipped:
            self._events.emit(
                Warned(
                    f"`{item.path}` is not in the sandbox of `{sandbox.resource}`: {item.reason}"
                )
            )
