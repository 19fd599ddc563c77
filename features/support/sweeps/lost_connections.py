"""A plan that is run again and again, and loses its connection at one message after another."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from features.support.faults.lossy_server import LossyServer
from features.support.plans import Plans
from features.support.postgres import new_database
from sqlalchemy import create_engine, text

SAMPLES = 10
_RECORDS = (
    "SELECT type FROM events WHERE plan_id = :plan ORDER BY sequence",
    "SELECT step_index, status FROM tool_calls WHERE plan_id = :plan ORDER BY sequence",
    "SELECT phase, state, last_completed_step FROM plans WHERE plan_id = :plan",
    "SELECT count(*) FROM checkpoint_metadata WHERE plan_id = :plan",
    "SELECT fencing, released FROM locks WHERE resource_id = :plan",
)


class LostConnections:
    """The runs, and what each left in the records."""

    def __init__(self, plans: Plans, on_close: ExitStack) -> None:
        self._plans = plans
        real = new_database().replace("postgresql:", "postgresql+psycopg:", 1)
        self._engine = create_engine(real)
        on_close.callback(self._engine.dispose)
        # The path of a socket must be short.
        directory = Path(on_close.enter_context(tempfile.TemporaryDirectory(prefix="ca-")))
        self._server = LossyServer(real, directory, on_close)
        plans.world.environment["CLEVERAGENTS_DATABASE_URL"] = self._server.url
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
        assert self._messages > number, (number, self._messages)
        assert self.run_once.read_text() == "once\n", number
        status = world.agents_here("plan", "status", plan, "--format", "json")
        assert status.exit_code == 0, status
        assert not (world.home / "older-database").exists(), number
        with self._engine.connect() as connection:
            return [
                [tuple(row) for row in connection.execute(text(query), {"plan": plan})]
                for query in _RECORDS
            ]
