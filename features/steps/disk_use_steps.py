from __future__ import annotations

from behave import then, when
from behave.runner import Context
from features.support.ailments import owned_bytes
from features.support.strategy_bench import strategy_bench

from cleveragents.infrastructure.sandbox.disk_use import measure, removable_bytes


@when("its disk use is measured")
def measure_directory(context: Context) -> None:
    context.size = removable_bytes(strategy_bench(context).data)


@when("the disk use of all sandboxes is measured")
def measure_sandboxes(context: Context) -> None:
    context.stored = measure(strategy_bench(context).world.home, [])


@then("it takes {size:d} bytes")
def takes(context: Context, size: int) -> None:
    assert context.size == size, context.size


@then("they take what the layer of the overlay takes")
def takes_layer(context: Context) -> None:
    place = strategy_bench(context).place
    layer = owned_bytes(place.with_name(f".{place.name}.overlay"))
    assert 8192 <= layer < 100_000, layer
    assert context.stored.sandboxes == {place.parent.name: {place.name: layer}}, context.stored
