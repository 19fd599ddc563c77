from __future__ import annotations

from behave import then, when
from behave.runner import Context
from features.support.faults.damage import owned_bytes
from features.support.sandboxes.strategy_bench import strategy_bench

from cleveragents.infrastructure.sandbox.files.overlay_mounts import is_overlay
from cleveragents.infrastructure.sandbox.gc.disk_use import measure, removable_bytes
from cleveragents.infrastructure.sandbox.gc.unrecorded import directories, remove_stray


@when("its disk use is measured")
def measure_directory(context: Context) -> None:
    context.size = removable_bytes(strategy_bench(context).data)


@when("the disk use of all sandboxes is measured")
def measure_sandboxes(context: Context) -> None:
    context.stored = measure(strategy_bench(context).world.home, [])


@when("the sandbox is removed as one that no plan has")
def remove_unrecorded(context: Context) -> None:
    for _ in range(2):
        remove_stray(strategy_bench(context).place)


@then("it takes {size:d} bytes")
def takes(context: Context, size: int) -> None:
    assert context.size == size, context.size


@then("they take what the layer of the overlay takes")
def takes_layer(context: Context) -> None:
    place = strategy_bench(context).place
    layer = owned_bytes(place.with_name(f".{place.name}.overlay"))
    assert 8192 <= layer < 100_000, layer
    assert context.stored.sandboxes == {place.parent.name: {place.name: layer}}, context.stored


@then("no trace of it is left, and the directory is as it was")
def no_trace(context: Context) -> None:
    work = strategy_bench(context)
    assert not is_overlay(work.place) and not work.place.parent.exists()
    assert directories(work.place.parent.parent) == {}
    assert work.original(work.sandbox.strategy) == work.before
