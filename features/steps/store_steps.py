from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from behave import given, then, when
from behave.runner import Context
from features.support.faults import store_faults
from features.support.sandboxes.store_bench import store_bench

from cleveragents.infrastructure.sandbox.store.packs import Pack
from cleveragents.infrastructure.sandbox.store.repacking import out_of_proportion


def pack_files(context: Context) -> dict[str, tuple[int, int, bytes]]:
    place = str(store_bench(context).packs)
    return {
        path: look for path, look in store_bench(context).files().items() if path.startswith(place)
    }


@given("a store with {count:d} checkpoints")
def filled(context: Context, count: int) -> None:
    store_bench(context).fill(count)


@given("a store with {count:d} checkpoints of which {dropped:d} were dropped")
def filled_and_pruned(context: Context, count: int, dropped: int) -> None:
    store_bench(context).fill(count)
    store_bench(context).drop(dropped)


@given("a store whose first checkpoint holds a large file")
def large(context: Context) -> None:
    store_faults.write_large_file(store_bench(context))
    store_bench(context).fill(1)
    context.special = max(store_bench(context).packs.glob("*.pack"), key=_size)


@given("{count:d} more checkpoints")
def more(context: Context, count: int) -> None:
    store_bench(context).fill(count)


@given("something is stored that nothing leads to")
def unreachable(context: Context) -> None:
    store_bench(context).add_unreachable()


@given("one of its packs is marked as being written")
def kept(context: Context) -> None:
    context.special = min(store_bench(context).packs.glob("*.pack"))
    context.special.with_suffix(".keep").write_text("cleveragents: until its ref is written\n")


@given("a project whose history is in packs, and a store with {count:d} checkpoints of it")
def packed_project(context: Context, count: int) -> None:
    work = store_bench(context).work
    work.make_project()
    work.user("git repack -qad; echo more > more; git add .; git commit -qm More; git repack -q")
    work.user("echo loose > loose; git add .; git commit -qm Loose; git prune-packed")
    store_bench(context).fill(count)
    context.of_project = store_bench(context).project_objects()


@given("a project that has repacked its history since the store was made")
def repacked_project(context: Context) -> None:
    packed_project(context, 3)
    work = store_bench(context).work
    work.user("git repack -qad; git prune-packed")
    work.sandbox_of("SECOND")
    store_bench(context).known.add("SECOND")
    context.of_project = store_bench(context).project_objects()


@given("an agent has had git write an index over all packs")
def many_indexed(context: Context) -> None:
    store_bench(context).work.agent(
        "git multi-pack-index write; git commit-graph write --reachable"
    )


@given("an agent has packed everything as git did long ago")
def old_index(context: Context) -> None:
    store = store_bench(context)
    store.work.agent("git -c pack.indexVersion=1 repack -qadk")
    (pack,) = store.packs.glob("*.idx")
    assert not pack.read_bytes().startswith(b"\377tOc")


@given("a bit of a pack has turned over")
def damaged(context: Context) -> None:
    store_bench(context).damage_a_pack()


@given("its list of refs is damaged")
def damaged_refs(context: Context) -> None:
    (store_bench(context).store / "packed-refs").write_text("this is not a list of refs\n")


@given("a link to other packs is in the place of its packs")
def linked_packs(context: Context) -> None:
    context.special = store_faults.link_packs(store_bench(context))


@when("the packs of the store are combined")
def combine(context: Context) -> None:
    context.before = pack_files(context)
    store_bench(context).combine()


@when("the packs of the store are combined although {fault}")
def combine_although(context: Context, fault: str) -> None:
    context.before = pack_files(context)
    with store_faults.COMBINING[fault](store_bench(context)):
        store_bench(context).combine()


@when("the packs of the store are combined while git is reading them")
def combine_read(context: Context) -> None:
    store = store_bench(context)
    with store.resident_reader() as read:
        context.first = read(store.snapshots[0])
        combine(context)
        context.then = [read(snapshot) for snapshot in store.snapshots]


@when("packs of the sizes {sizes} are combined")
def proportion(context: Context, sizes: str) -> None:
    packs = [
        Pack(Path(f"pack-{place}"), frozenset(), int(size), 0, 0.0, is_borrowed=False)
        for place, size in enumerate(sizes.split(", "))
    ]
    chosen = out_of_proportion(packs)
    context.left = [str(pack.size) for pack in packs if pack not in chosen]


@when("space is reclaimed")
def reclaim(context: Context) -> None:
    store_bench(context).collect()


@when("space is reclaimed although {fault}")
def reclaim_although(context: Context, fault: str) -> None:
    with store_faults.COLLECTING[fault](store_bench(context)):
        store_bench(context).collect()


@when("reclaiming is rehearsed although {fault}")
def rehearse_although(context: Context, fault: str) -> None:
    with store_faults.COLLECTING[fault](store_bench(context)):
        store_bench(context).collect(dry_run=True)


@when("{work} is killed at one act after another")
def sweep(context: Context, work: str) -> None:
    modes = {"combining the packs": "combine", "reclaiming space": "collect"}
    stride = "1" if context.config.userdata.get("sweep") == "whole" else "6"
    done = subprocess.run(
        [sys.executable, "-m", "features.support.sweeps.store_kill_sweep", modes[work], stride],
        env=context.world.with_features,
        capture_output=True,
        text=True,
        check=False,
    )
    context.said = done.stdout + done.stderr


@then("{many:d} packs have become {few:d}")
def fewer(context: Context, many: int, few: int) -> None:
    store = store_bench(context)
    assert store.combined == many, store.combined
    assert len(list(store.packs.glob("*.pack"))) == few, list(store.packs.iterdir())


@then("every pack is still what it was")
def unchanged(context: Context) -> None:
    assert store_bench(context).combined == 0
    assert context.before.items() <= pack_files(context).items()


@then("every checkpoint can be read back and git finds nothing wrong")
def whole(context: Context) -> None:
    store_bench(context).check_whole()


@then("the large pack is the same file as before")
@then("the marked pack is the same file as before")
def same_file(context: Context) -> None:
    now, name = pack_files(context), str(context.special)
    assert store_bench(context).combined > 1
    assert now.get(name) == context.before[name], sorted(now)


@then("that can still be read")
def still_read(context: Context) -> None:
    store = store_bench(context)
    assert store.combined > 1
    store.work.acts().verify(store.unreachable)


@then("{left} stay as they are")
def left(context: Context, left: str) -> None:
    assert context.left == ([] if left == "none" else left.split(", ")), context.left


@then("the project's files are the same, and still shared")
def project_same(context: Context) -> None:
    store = store_bench(context)
    assert store.project_objects() == context.of_project
    shared = {look[0] for look in store.files().values() if look[1] > 1}
    offered = {look[0] for path, look in context.of_project.items() if "/info/" not in path}
    assert shared == offered, shared ^ offered
    store.check_whole()


@then("nothing but what is needed is left in the store")
def only_needed(context: Context) -> None:
    store = store_bench(context)
    assert store.stored() == store.reachable()
    assert store.result.objects_removed > 0, store.result
    store.check_whole()


@then("the store holds what is needed and shares the rest")
def shares(context: Context) -> None:
    store = store_bench(context)
    project_same(context)
    assert store.stored() == store.reachable()
    assert store.result.bytes_reclaimed > 0, store.result


@then("git reads every checkpoint before and afterwards")
def read_on(context: Context) -> None:
    store = store_bench(context)
    assert store.combined == len(store.snapshots)
    assert context.then[0] == context.first
    assert all(b"CleverAgents snapshot" in commit for commit in context.then), context.then


@then("the store says that {problem}")
def says(context: Context, problem: str) -> None:
    assert problem in (store_bench(context).result.problem or ""), store_bench(context).result


@then("the other packs are still there")
def others_there(context: Context) -> None:
    assert len(list(context.special.glob("*.pack"))) == 3, list(context.special.iterdir())


@then("no file of the store has changed")
def no_change(context: Context) -> None:
    assert store_bench(context).files() == store_bench(context).before


@then("the store was whole each time, and tidy in the end")
def survived(context: Context) -> None:
    count = context.said.partition(" kills survived")[0]
    assert count.isdigit() and int(count) > 3, context.said


def _size(path: Path) -> int:
    return path.stat().st_size
