from __future__ import annotations

from behave import given, then, when
from behave.runner import Context
from features.support.sandboxes import earlier_snapshots as earlier
from features.support.sandboxes.sandbox_bench import bench

from cleveragents.domain.sandboxes.uncaptured import reason_from
from cleveragents.infrastructure.sandbox.store.snapshots import StoredSnapshots


@given("what an earlier release stored of a sandbox, with paths that it could not hold")
def earlier_snapshot(context: Context) -> None:
    context.earlier = earlier.stored()


@when("a snapshot says of a path: {text}")
def read_reason(context: Context, text: str) -> None:
    context.stored_text, context.reason = text, reason_from(text)


@when("it is read, and stored in a new sandbox")
def store_again(context: Context) -> None:
    store = StoredSnapshots(bench(context).sandbox_of("PLAN"), bench(context).git, lambda _: None)
    context.kept = store.keep(context.earlier, (), ())
    context.read_back = store.load(context.kept.snapshot_id)
    store.close()


@when("this release finds the same paths for the same reasons")
def find_today(context: Context) -> None:
    context.found = earlier.found_today()


@then("it lacks the path for the reason {kind}")
def has_kind(context: Context, kind: str) -> None:
    assert (context.reason.kind, context.reason.text) == (kind, context.stored_text), context.reason


@then("the snapshot has the name that the earlier release gave it")
def has_same_name(context: Context) -> None:
    kept = context.kept
    assert (kept.snapshot_id, kept.state_hash) == (earlier.NAME, earlier.HASH), kept
    assert context.read_back == context.earlier


@then("the snapshot is partial, because the earlier release had missed its deadline")
def is_partial(context: Context) -> None:
    assert context.kept.partial


@then("it would store the same bytes")
def same_bytes(context: Context) -> None:
    assert context.found.document() == earlier.DOCUMENT, context.found.document()
    kinds = {path: reason.kind for path, reason in context.found.not_captured.items()}
    assert kinds == {path: each.kind for path, each in context.earlier.not_captured.items()}
