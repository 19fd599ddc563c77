"""Kills the care for a store at each of its acts on files, and looks at what is left.

`python -m features.support.sweeps.store_kill_sweep combine|collect [STRIDE]` ends with
`N kills survived`; with a stride, only each so-manieth act is tried.
"""

from __future__ import annotations

import itertools
import sys

from features.support.sandboxes.store_bench import StoreBench
from features.support.sweeps.sandbox_kill_sweep import dies_at
from features.support.world import World


def sweep(store: StoreBench, mode: str, number: int) -> bool:
    store.restore_saved()
    act = store.combine if mode == "combine" else store.collect
    died = dies_at(number, act)
    store.check_whole()
    act()
    store.collect()
    store.check_whole()
    store.check_tidy()
    assert store.stored() == store.reachable(), number
    return died


def main(mode: str, stride: int) -> None:
    world = World(runner="in-process")
    store = StoreBench(world)
    store.fill(10)
    store.drop(3)
    orphan = store.snapshots.pop()
    store.save()
    acts = itertools.count(0, stride)
    survived = sum(1 for _ in itertools.takewhile(lambda act: sweep(store, mode, act), acts))
    assert orphan not in store.work.acts().ids()
    print(f"{survived} kills survived")
    world.close()


if __name__ == "__main__":
    main(sys.argv[1], int((sys.argv[2:] or ["1"])[0]))
