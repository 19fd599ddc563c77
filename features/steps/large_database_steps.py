from __future__ import annotations

import shlex
from unittest.mock import patch

from behave import then, when
from behave.runner import Context
from benchmarks import large_database

from cleveragents.infrastructure.database.session import DatabaseSession


@when('"{command}" runs in a home with {few:d} plans and in one with {many:d}')
def run_in_both(context: Context, command: str, few: int, many: int) -> None:
    asked = {count: questions(context, command, count) for count in (few, many)}
    context.for_each_plan = (asked[many] - asked[few]) / (many - few)


@then("it asks {more:d} more questions for each further plan")
def asks_more(context: Context, more: int) -> None:
    assert context.for_each_plan == more, context.for_each_plan


def questions(context: Context, command: str, plans: int) -> int:
    """Returns how many statements a command runs."""
    world = context.world
    (world.project / ".git").mkdir(exist_ok=True)
    home = world.directory / f"home-{plans}"
    large_database.build(home, world.project, plans)
    real = DatabaseSession.run
    with patch.object(DatabaseSession, "run", autospec=True, side_effect=real) as asked:
        _, *arguments = shlex.split(command)
        outcome = world.agents_here(*arguments, env={"CLEVERAGENTS_HOME": str(home)})
    assert outcome.exit_code == 0, outcome
    return asked.call_count
