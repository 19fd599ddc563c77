"""A plan that is run again and again, and loses its connection at one message after another."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import Mock

from features.support.faults.server_relays import FarServer, LossyServer, Relay
from features.support.plans import Plans
from features.support.postgres import new_database
from sqlalchemy import create_engine, text

from cleveragents.application.services.checkpoint_service import Milestone
from cleveragents.domain.checkpoints.checkpoint import CheckpointType

SAMPLES = 10
_MOMENT = Milestone(CheckpointType.MANUAL, "far", "requested", step_index=0)
_RECORDS = (
    "SELECT type FROM events WHERE plan_id = :plan ORDER BY sequence",
    "SELECT step_index, status FROM tool_calls WHERE plan_id = :plan ORDER BY sequence",
    "SELECT phase, state, last_completed_step FROM plans WHERE plan_id = :plan",
    "SELECT count(*) FROM checkpoint_metadata WHERE plan_id = :plan",
    "SELECT fencing, released FROM locks WHERE resource_id = :plan",
)


_RelayT = TypeVar("_RelayT", bound=Relay)


class LostConnections:
    """The runs, and what each left in the records."""

    def __init__(self, plans: Plans, on_close: ExitStack) -> None:
        self._plans = plans
        real, self._server = _relayed(LossyServer, plans, on_close)
        self._engine = create_engine(real)
        on_close.callback(self._engine.dispose)
        self._messages = 0
        self.run_once = plans.world.directory / "begun"
        """What a step of the plan adds a line to."""

    def compare(self, *, answer: bool, whole: bool) -> int:
        """Loses a message, or an answer, at many places; returns at how many."""
        undisturbed = self._run(0, answer=answer)
        messages = self._messages
        numbers = range(1, messages, 1 if whole else messages // SAMPLES)
        for number in numbers:
            found = self._run(number, answer=answer)
            assert found == undisturbed, (number, found, undisturbed)
        return len(numbers)

    def _run(self, number: int, *, answer: bool) -> list[Any]:
        """Runs a new plan; returns what its records say, without ids and times."""
        world = self._plans.world
        made = world.agents_here("plan", "use", str(self._plans.file), "--format", "json")
        plan = made.json["data"]["plan_id"]
        self.run_once.unlink(missing_ok=True)
        self._server.lose_at(number, answer=answer)
        outcome = world.agents_here("plan", "execute", plan, "--format", "json")
        self._messages = self._server.messages
        self._server.lose_at(0, answer=answer)
        assert outcome.exit_code == 0, (number, outcome)
        # After the last rollback, which nobody waits for, nothing else is said.
        assert self._messages >= number, (number, self._messages)
        assert self.run_once.read_text() == "once\n", number
        status = world.agents_here("plan", "status", plan, "--format", "json")
        assert status.exit_code == 0, status
        assert not (world.home / "older-database").exists(), number
        with self._engine.connect() as connection:
            return [
                [tuple(row) for row in connection.execute(text(query), {"plan": plan})]
                for query in _RECORDS
            ]


def round_trips_of_a_checkpoint(plans: Plans, on_close: ExitStack) -> int:
    """Runs the plan, and takes a checkpoint as a process does that runs it."""
    _, server = _relayed(FarServer, plans, on_close)
    ran = plans.world.agents_here("plan", "run", str(plans.file), "--format", "json")
    assert ran.exit_code == 0, ran
    plan = ran.json["data"]["plan_id"]
    container = plans.container(Mock())
    on_close.callback(container.close)
    with container.locks().hold(plan) as lease:
        server.round_trips = 0
        container.checkpoint_service().create_checkpoint(lease, _MOMENT)
        return server.round_trips


def _relayed(kind: type[_RelayT], plans: Plans, on_close: ExitStack) -> tuple[str, _RelayT]:
    """Makes a database that the plan is run with; returns its own address, and what is between."""
    real = new_database().replace("postgresql:", "postgresql+psycopg:", 1)
    # The path of a socket must be short.
    directory = Path(on_close.enter_context(tempfile.TemporaryDirectory(prefix="ca-")))
    server = kind(real, directory, on_close)
    plans.world.environment["CLEVERAGENTS_DATABASE_URL"] = server.url
    return real, server
