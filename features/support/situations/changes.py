"""Calls that a program makes in a plan's sandboxes, and what it finds that they changed."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from unittest.mock import Mock

from behave.runner import Context
from features.support.plans import Plans, plans

from cleveragents.application.services.checkpoint_service import Milestone
from cleveragents.application.services.checkpoints.group_recorder import snapshot_ids
from cleveragents.container import Container
from cleveragents.domain.checkpoints.checkpoint import CheckpointType
from cleveragents.domain.sandboxes.change import PathChange
from cleveragents.domain.sandboxes.sandbox import SandboxRef

Found = list[tuple[SandboxRef, list[PathChange]]]


class CallChanges:
    """One plan that has run, worked on further by a program."""

    def __init__(self, context: Context) -> None:
        self._plans: Plans = plans(context)
        self._container: Container = self._plans.container(Mock())
        context.add_cleanup(self._container.close)
        self._service = self._container.checkpoint_service()
        held = ExitStack()
        context.add_cleanup(held.close)
        locks = self._container.locks()
        self._lease = held.enter_context(locks.hold(self._plans.plan_id))
        self._before: Mapping[str, str] | None = None
        self.changes: Found = []

    def look(self) -> None:
        self._before = snapshot_ids(self._service.take(self._lease))

    def call(self, command: str) -> None:
        """Runs a command in the first sandbox, and finds out what it did in all of them."""
        if self._before is None:
            self.look()
        before = self._before
        assert before is not None
        place = self._plans.sandbox
        environment = {**self._plans.world.environment, "SANDBOXES": str(place.parent)}
        subprocess.run(["/bin/sh", "-c", command], cwd=place, env=environment, check=True)
        taken = self._service.take(self._lease)
        after, sandboxes = snapshot_ids(taken), [sandbox for sandbox, _ in taken]
        found = self._service.changes_between(sandboxes, before, after)
        self.changes = [(sandbox, list(changes)) for sandbox, changes in found]
        self._service.forget_unnamed(self._lease, sandboxes, before, after)
        self._before = None

    def checkpoint(self, label: str) -> None:
        (self._plans.sandbox / label).write_text("")
        moment = Milestone(CheckpointType.MANUAL, label=label, reason="", step_index=0)
        self._service.create_checkpoint(self._lease, moment)

    def kept(self) -> set[str]:
        return self._plans.refs()

    def named(self) -> set[str]:
        with self._container.database().read() as transaction:
            groups = transaction.checkpoints.groups(self._plans.plan_id)
        return {snapshot for group in groups for snapshot in group.snapshots.values()}

    def recover(self) -> None:
        self._container.recovery().finish(self._plans.plan_id)


def written(found: Found) -> str:
    """Returns changes as a scenario writes them."""
    said = [
        f"{change.path} {change.operation} in {sandbox.resource}"
        for sandbox, changes in found
        for change in changes
    ]
    return "; ".join(said) or "nothing"
