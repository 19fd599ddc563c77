from __future__ import annotations

from pathlib import Path

from behave import given, then
from behave.runner import Context
from features.support.sandboxes.sandbox_bench import bench
from features.support.sandboxes.watching_bench import watching

from cleveragents.infrastructure.sandbox.store.refs import SnapshotRefs


@given("{count:d} snapshots have been made and dropped")
def made_and_dropped(context: Context, count: int) -> None:
    work = bench(context)
    context.dropped = []
    for number in range(count):
        (work.root / "f").write_text(f"to be dropped {number}")
        context.dropped.append(work.look().id)
    work.acts().delete(context.dropped)


@given("the file of the dropped ref {what}")
def happens(context: Context, what: str) -> None:
    (spare,) = _drafts(context)
    if what == "goes":
        spare.unlink()
    else:
        spare.write_text("something longer than the name of an object")


@then("the dropped snapshots are missing, and the others are whole")
def dropped(context: Context) -> None:
    work = bench(context)
    for name in ("before", "after"):
        work.acts().verify(work.moments[name].id)
    kept = {work.moments[name].id for name in ("before", "after")}
    assert kept.isdisjoint(context.dropped)
    assert set(SnapshotRefs(work.sandbox, work.git).ids()) == kept


@then("nothing is wrong with the store, and no draft is left in it")
def sound(context: Context) -> None:
    work = bench(context)
    watching(context).expect_exact()
    assert work.fsck() == ""
    context.world.on_close.close()
    assert not _drafts(context)


def _drafts(context: Context) -> list[Path]:
    return list(Path(bench(context).sandbox.store).glob("refs/**/.*"))
