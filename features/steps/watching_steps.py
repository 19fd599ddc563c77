from __future__ import annotations

from behave import given, then, when
from behave.runner import Context
from features.support.plans import plans
from features.support.sandboxes import watching_bench as support
from features.support.sandboxes.sandbox_bench import bench
from features.support.sandboxes.watching_bench import watching
from msgspec.structs import replace


@given("a {how} of the sandbox has begun")
def begun(context: Context, how: str) -> None:
    watching(context).begin(how)


@given("the system is such that {handicap}")
def handicapped(context: Context, handicap: str) -> None:
    context.world.on_close.enter_context(support.HANDICAPS[handicap]())


@given("the agent has changed one file, and there was a checkpoint")
def one_changed(context: Context) -> None:
    bench(context).agent("echo 1 > README.md; echo 1 > src/main.py; sleep 0.1")
    watching(context).go_on()
    context.objects = support.objects_of(bench(context))


@when("the agent runs `{command}`, and then there is a checkpoint")
def changed_and_checkpoint(context: Context, command: str) -> None:
    bench(context).agent(command)
    watching(context).go_on()


@when("more changes are made than the system reports, and then a checkpoint is made")
def overflowed(context: Context) -> None:
    watching(context).overflow()
    watching(context).go_on()


@when("the agent's `{command}` is not reported, and everything is read once more")
def rechecked(context: Context, command: str) -> None:
    bench(context).agent(command)
    watching(context).go_on()
    unseen = bench(context).moments["after"].checkpoint
    assert unseen.snapshot_id == bench(context).moments["before"].id, "it was reported"
    watching(context).recheck()
    watching(context).go_on()


@when("a program writes to {path} and keeps using it, and everything is checked again")
def rechecked_mapping(context: Context, path: str) -> None:
    support.write_through_mapping(bench(context).root / path, bench(context))
    watching(context).recheck()
    watching(context).go_on()


@when("{paths} changes, and a checkpoint may start no process")
def changed_without_process(context: Context, paths: str) -> None:
    work = bench(context)
    for path in [] if paths == "nothing" else paths.split(" and "):
        (work.root / path).write_text("changed\n")
    with support.no_new_process():
        made = work.take()
    watching(context).go_on()
    assert made.checkpoint == replace(
        work.moments["after"].checkpoint, size_bytes=made.checkpoint.size_bytes
    )
    context.added = made.checkpoint.size_bytes


@then("the checkpoint rests on {evidence} and is exact")
def rests_on(context: Context, evidence: str) -> None:
    made = bench(context).moments["after"].checkpoint
    assert made.evidence == evidence, made.evidence
    watching(context).expect_exact()


@then("what had been missed is {paths}")
def missed(context: Context, paths: str) -> None:
    found = watching(context).missed
    assert found == ([] if paths == "nothing" else paths.split(", ")), found


@then("nothing has been stored for it")
def nothing_stored(context: Context) -> None:
    assert context.added == 0, context.added
    assert support.objects_of(bench(context)) == context.objects


@then("the checkpoints rest on {kinds}")
def all_rest_on(context: Context, kinds: str) -> None:
    found = {item["evidence"] for item in plans(context).checkpoints()}
    assert found == set(kinds.split(" and ")), found


@then("nothing has been made outside")
def nothing_outside(context: Context) -> None:
    assert not list(bench(context).outside.iterdir()), list(bench(context).outside.iterdir())


@when("a program ends while it watches a directory")
def ends_watching(context: Context) -> None:
    context.world.python(
        "import tempfile\n"
        "from cleveragents.infrastructure.sandbox.files.inotify import Watch\n"
        "def watched():\n"
        "    watch = Watch(tempfile.mkdtemp())\n"
        "    try:\n"
        "        yield\n"
        "    finally:\n"
        "        watch.close()\n"
        "held = watched()\n"
        "next(held)\n"
    )
