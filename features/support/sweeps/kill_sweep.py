"""Kills a process at each of its durable actions, and looks at what the next one finds.

`python -m features.support.sweeps.kill_sweep create|migrate DIRECTORY` ends with
`N kills survived`.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from features.support.faults.crash import measure_nothing
from features.support.sandboxes.databases import make_sqlite, open_database, schema_of
from features.support.statements import traced

from cleveragents.infrastructure.database import schema

ACTIONS = {"os.rename", "os.remove", "sqlite3.connect", "os.link"}


def tick_at_each_action(tick: Callable[[], None]) -> None:
    def statement(*_: object) -> None:
        tick()

    def audited(name: str, arguments: tuple[object, ...]) -> None:
        writes = name == "open" and int(str(arguments[2])) & (os.O_WRONLY | os.O_RDWR)
        if name in ACTIONS or writes:
            tick()

    traced(statement).start()
    sys.addaudithook(audited)


def die_at(number: int, home: Path) -> bool:
    """Uses the database in a process that is killed at its `number`-th action."""
    child = os.fork()
    if child == 0:
        measure_nothing()
        remaining = itertools.count(number, -1)

        def tick() -> None:
            if next(remaining) == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        tick_at_each_action(tick)
        use(home)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def use(home: Path) -> list[str]:
    database = open_database(home)
    with database.read() as transaction:
        found = list(transaction.plans.ids())
    database.close()
    return found


def main(mode: str, directory: Path) -> None:
    import cleveragents.infrastructure.database.migrate  # loaded before the fork, to be quick

    assert cleveragents.infrastructure.database.migrate
    make_sqlite(directory / "wanted.db", schema.HEAD_REVISION)
    wanted = schema_of(directory / "wanted.db")
    for number in itertools.count():
        home = directory / str(number)
        if mode == "migrate":
            make_sqlite(home / "state.db", schema.OLDER_REVISIONS[0])
        died = die_at(number, home)
        found = use(home)
        assert found == (["PLAN1"] if mode == "migrate" else []), (number, found)
        assert schema_of(home / "state.db") == wanted, number
        assert not [*home.glob("*.new*"), *home.glob("*.partial*")], number
        if not died:
            print(f"{number} kills survived")
            return


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
