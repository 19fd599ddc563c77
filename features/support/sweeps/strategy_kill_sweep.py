"""Kills a process at each of its acts on files while it works on a directory or database.

`python -m features.support.sweeps.strategy_kill_sweep ACT [STRIDE]` ends with `N kills survived`.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable

from features.support.sandboxes.strategy_bench import StrategyBench
from features.support.sweeps.sandbox_kill_sweep import dies_at
from features.support.world import World

from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.testing.sqlite.store import DatabaseWorkspace
from cleveragents.testing.trees import differing, read_tree

Sweep = Callable[[int], bool]


def copying(work: StrategyBench, strategy: SandboxStrategy) -> Sweep:
    """Each attempt is of another plan, so what it left must be found by the next one's."""
    work.make_database()
    work.make_directory("mkdir -p a/b; echo 1 > a/b/f; echo 2 > g; ln -s g l; chmod 500 a")

    def sweep(number: int) -> bool:
        died = dies_at(number, lambda: work.create(strategy, f"KILLED{number}"))
        made = work.create(strategy, "NEXT")
        if strategy is SandboxStrategy.FILESYSTEM_COPY:
            assert not differing(read_tree(work.place), read_tree(work.data)), number
        else:
            assert DatabaseWorkspace(made, lambda: work.store).run("SELECT a FROM t") == [
                (1,),
                (2,),
            ]
        left = list(work.home.glob("sandboxes/*/.*"))
        assert not left, (number, left)
        work.maker.remove(made)
        return died

    return sweep


def storing(work: StrategyBench, _: SandboxStrategy) -> Sweep:
    place = work.databases()()
    first, before = place.store(), place.dump()

    def sweep(number: int) -> bool:
        place.run(f"INSERT INTO t VALUES ({number}, randomblob(9000))")
        expected = place.dump()
        died = dies_at(number, place.store)
        made = place.store()
        for snapshot, wanted in ((first, before), (made, expected)):
            place.restore(snapshot)
            assert place.dump() == wanted, number
        return died

    return sweep


def restoring(work: StrategyBench, _: SandboxStrategy) -> Sweep:
    place = work.databases()()
    first, before = place.store(), place.dump()
    place.run("INSERT INTO t VALUES (3, randomblob(900000))", "PRAGMA journal_mode=WAL")
    return _between(place, (first, before), (place.store(), place.dump()))


def replacing(work: StrategyBench, _: SandboxStrategy) -> Sweep:
    place = work.databases()()
    place.run("PRAGMA journal_mode=WAL", "INSERT INTO t VALUES (3, 4)")
    first, before = place.store(), place.dump()
    place.path.unlink()
    return _between(place, (first, before), (place.store(), None))


def _between(
    place: DatabaseWorkspace, one: tuple[str, list[str] | None], other: tuple[str, list[str] | None]
) -> Sweep:
    def sweep(number: int) -> bool:
        _go(place, *other)
        died = dies_at(number, lambda: place.restore(one[0]))
        if number % 2:
            _go(place, *other)
        _go(place, *one)
        return died

    return sweep


def _go(place: DatabaseWorkspace, snapshot: str, expected: list[str] | None) -> None:
    place.restore(snapshot)
    assert (place.dump() if place.path.exists() else None) == expected


SWEEPS = {
    "copy a database": (copying, SandboxStrategy.TRANSACTION_ROLLBACK),
    "copy a directory": (copying, SandboxStrategy.FILESYSTEM_COPY),
    "store a database": (storing, SandboxStrategy.TRANSACTION_ROLLBACK),
    "restore a database": (restoring, SandboxStrategy.TRANSACTION_ROLLBACK),
    "replace a database": (replacing, SandboxStrategy.TRANSACTION_ROLLBACK),
}


def main(act: str, stride: int) -> None:
    world = World(runner="in-process")
    prepare, strategy = SWEEPS[act]
    sweep = prepare(StrategyBench(world), strategy)
    survived = sum(1 for _ in itertools.takewhile(sweep, itertools.count(0, stride)))
    print(f"{survived} kills survived")
    world.close()


if __name__ == "__main__":
    main(sys.argv[1], int((sys.argv[2:] or ["1"])[0]))
