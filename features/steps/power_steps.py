from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

from behave import given, then, when
from behave.runner import Context
from features.support.commands import spelled_out
from features.support.faults.power import CutOffDisk, SyncLog, why_not
from features.support.faults.sandbox_faults import loose_objects_of
from features.support.plans import plans
from features.support.sandboxes.sandbox_bench import IDENTITY, bench

from cleveragents.infrastructure.sandbox.files import agent_objects


@given("a disk whose power can be cut")
def disk(context: Context) -> None:
    reason = why_not()
    if reason is not None:
        context.scenario.skip(f"the power cannot be cut here: {reason}")
        return
    context.disk = CutOffDisk(context.world)


@given("a plan whose agent runs `{command}` has run there")
def run_there(context: Context, command: str) -> None:
    work = plans(context)
    identity = "export " + " ".join(f"{name}={value}" for name, value in IDENTITY.items())
    script = f"set -e; {identity}; {spelled_out(command)}"
    work.define([{"step": "work", "does": f"runs `{script}`"}])
    context.world.process_agents("plan", "run", str(work.file), "--format", "json")
    said = context.world.last
    assert said.exit_code == 0, said.stdout[-1500:]


@when("the power is cut and comes back")
def cut(context: Context) -> None:
    context.disk.cut()


@then("every checkpoint is whole, and the plan can go back and forth")
def all_whole(context: Context) -> None:
    world = context.world
    for words in (
        ("checkpoint", "verify", "@latest"),
        ("rollback", "@latest", "@first", "--yes"),
        ("undo", "@latest", "--yes"),
        ("checkpoint", "verify", "@latest"),
    ):
        said = world.process_agents("plan", *words, "--format", "json")
        assert said.exit_code == 0, said
        assert said.json["data"].get("verified", True), said


@given("only {size:d} bytes of the agent's objects are stored once more")
def little_room(context: Context, size: int) -> None:
    context.world.on_close.enter_context(patch.object(agent_objects, "_READ_BYTES", size))


@when("a checkpoint is made while every sync is noted")
def checkpoint_noted(context: Context) -> None:
    work = bench(context)
    work.agent("true")
    found = loose_objects_of(work.mirror)
    # The others are links to what the project has.
    context.own = [path for path in found if path.stat().st_nlink == 1]
    context.log = SyncLog()
    with context.log.noting():
        work.moments["made"] = work.look()


@then("the agent's objects are synced, with the directories above them, before the ref is written")
def synced_before(context: Context) -> None:
    work, log = bench(context), context.log
    ref = f"{work.mirror}/refs/cleveragents/snapshots/FIRST/project/{work.moments['made'].id}"
    written = log.position(f"named {ref}")
    (large,) = (path for path in context.own if path.stat().st_size > 1000)
    for place in (large, large.parent, large.parent.parent):
        assert log.position(str(place)) < written, (place, log.acts)


@then("no object of the agent's git is synced by itself")
def nothing_synced(context: Context) -> None:
    assert not set(map(str, context.own)) & set(context.log.acts), context.log.acts


@then("the checkpoint is whole without the agent's own objects")
def whole_without(context: Context) -> None:
    work = bench(context)
    assert context.own
    for path in context.own:
        path.unlink()
    work.acts().verify(work.moments["made"].id)


@given("a repository whose last commit has {count:d} files")
def repository(context: Context, count: int) -> None:
    work = bench(context)
    work.make_project()
    work.user(f"for n in $(seq {count}); do echo $n > f$n; done; git add -A; git commit -qm more")


@when("its sandbox is made while every sync is noted")
def sandbox_noted(context: Context) -> None:
    context.log = SyncLog()
    with context.log.noting():
        assert bench(context).sandbox


@then("each object of the project was synced, or everything was")
def project_synced(context: Context) -> None:
    work, log = bench(context), context.log
    linked: list[Path] = loose_objects_of(work.mirror)
    assert linked
    assert "everything" in log.acts or {*map(str, linked)} <= {*log.acts}, log.acts
