from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml
from behave import given, then, when
from behave.runner import Context
from features.support.faults import crash
from features.support.plans import data, plans
from features.support.sandboxes import garbage

from cleveragents.application.services.recovery import delete_unnamed_snapshots
from cleveragents.domain.errors import SnapshotMissingError
from cleveragents.infrastructure.file_locks import exclusive
from cleveragents.infrastructure.sandbox.files.sandbox import FileSandbox
from cleveragents.infrastructure.sandbox.store.refs import mirror_use
from cleveragents.testing.events import NoEvents


def store(context: Context) -> dict[str, Any]:
    """What was said about the only store."""
    (only,) = data(context)["stores"]
    return only


@given("a plan with {count:d} checkpoints by hand, of which {left:d} are left")
def many_checkpoints(context: Context, count: int, left: int) -> None:
    context.execute_steps("Given a plan that wrote a.txt in step one and b.txt in step two")
    for number in range(count):
        (plans(context).sandbox / "b.txt").write_text(f"{number}\n" * 2000)
        plans(context).prepare("plan", "checkpoint", "create", plans(context).plan_id)
    assert len(plans(context).checkpoints()) == left, plans(context).labels()


@given("space has been reclaimed")
def has_been_reclaimed(context: Context) -> None:
    plans(context).prepare("gc")


@given("making a checkpoint of something new was killed before it was recorded")
def killed_unrecorded(context: Context) -> None:
    (plans(context).sandbox / "new.txt").write_text("new\n")
    moment = crash.MOMENTS["when a snapshot is named and not recorded"]
    arguments = ("plan", "checkpoint", "create", plans(context).plan_id)
    known = plans(context).refs()
    assert crash.killed(plans(context), moment, 1, *arguments)
    assert len(plans(context).refs() - known) == 1


@given("combining its first and last checkpoint was killed before it was recorded")
def killed_combining(context: Context) -> None:
    known = plans(context).refs()
    crash.killed_after(lambda: garbage.combine_checkpoints(plans(context)))
    assert len(plans(context).refs() - known) == 1


@given("a process has the store open")
def store_open(context: Context) -> None:
    use = ExitStack()
    use.enter_context(mirror_use(plans(context).mirror))
    context.add_cleanup(lambda: (use.close(), use.close()))  # Whoever closes twice has closed.


@given("a process that was forked has forgotten it")
def forked(context: Context) -> None:
    """A child that ends its copy of the use does not end ours."""
    use = ExitStack()
    use.enter_context(mirror_use(plans(context).mirror))
    context.add_cleanup(use.close)
    child = os.fork()
    if child == 0:
        use.close()
        os._exit(0)
    os.waitpid(child, 0)


@given("the project is being copied into the store")
def being_refreshed(context: Context) -> None:
    held = exclusive(plans(context).mirror.with_suffix(".lock"))
    held.__enter__()
    context.add_cleanup(held.__exit__, None, None, None)


@given("a directory is in the place of the store's lock")
def lock_is_directory(context: Context) -> None:
    garbage.directory_as_lock(plans(context))


@given("making the store of another project has been killed")
def other_half(context: Context) -> None:
    draft = plans(context).mirror.with_name("other-0011.git.new")
    context.leftover = garbage.write(draft / "HEAD")


@given("a killed run has left {leftover}")
def killed_left(context: Context, leftover: str) -> None:
    context.leftover = garbage.KILLED[leftover](plans(context))


@given("an agent's git has an old object nothing leads to")
def old_object(context: Context) -> None:
    context.leftover = garbage.old(garbage.add_object(plans(context)))


@given("an agent's git has {fresh}")
def fresh_thing(context: Context, fresh: str) -> None:
    context.leftover = garbage.FRESH[fresh](plans(context))


@given("there is a sandbox of an unknown plan")
def unknown_worktree(context: Context) -> None:
    context.leftover = garbage.make_unknown_worktree(plans(context))


@given("there is a directory copied for an unknown plan")
def unknown_copy(context: Context) -> None:
    context.leftover = garbage.make_unknown_sandbox(plans(context))


@given("there is half a sandbox that a killed process was making")
def killed_draft(context: Context) -> None:
    context.leftover = garbage.make_draft(plans(context))


@given("there is half a sandbox that a living process was making")
def living_draft(context: Context) -> None:
    context.leftover = garbage.make_draft(plans(context))
    descriptor = os.open(context.leftover, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    context.add_cleanup(os.close, descriptor)


@given("there is half a sandbox that has got its final name by now")
def finished_draft(context: Context) -> None:
    context.leftover = garbage.finish_draft(plans(context))


@given("removing a sandbox of the plan has been killed")
def half_removed(context: Context) -> None:
    heap = plans(context).sandbox.with_name(".gone.removed")
    garbage.write(heap / "0" / "file")
    (heap / "0").chmod(0o500)
    context.leftover = heap


@given("the database has been lost")
def lost_database(context: Context) -> None:
    context.lost_plan = plans(context).plan_id
    for path in context.world.home.glob("state.db*"):
        path.unlink()


@given("an agent has stashed twice, staged a file, amended a commit and detached its HEAD")
def busy_agent(context: Context) -> None:
    context.agents_work = (
        "git stash list; git stash show -p stash@{0}; git stash show -p stash@{1};"
        "git show :staged.txt; git log --format=%s HEAD; git show HEAD@{1} HEAD@{2} --stat"
    )
    garbage.agent(
        plans(context),
        "git add -A; git commit -qm one; git commit -q --amend -m two; git checkout -q --detach;"
        "echo 1 > a.txt; git stash -q; echo 2 > a.txt; git stash -q;"
        "git commit -q --allow-empty -m three; echo staged > staged.txt; git add staged.txt",
    )
    context.agents_view = garbage.agent(plans(context), context.agents_work)
    garbage.age_objects(plans(context))


@given("the stored bytes of {name} are gone")
def bytes_gone(context: Context, name: str) -> None:
    garbage.lose_bytes(plans(context), name)


@given("an agent has deleted the refs of all snapshots")
def refs_deleted(context: Context) -> None:
    garbage.lose_refs(plans(context))


@given("all private repositories have been deleted")
def stores_deleted(context: Context) -> None:
    garbage.lose_stores(plans(context))


@given("the checkpoints of a state are dropped while they are being verified")
def dropped_meanwhile(context: Context) -> None:
    """Records and snapshot go, as a running plan's retention would have them go."""
    known = plans(context)
    dropped = known.checkpoints()[2:4]
    read: list[str] = []
    real: Callable[..., Any] = FileSandbox.verify

    def verify(sandbox: FileSandbox, snapshot_id: str) -> None:
        if snapshot_id not in read:
            read.append(snapshot_id)
        if read.index(snapshot_id) != 1:
            real(sandbox, snapshot_id)
            return
        for item in dropped:
            for table in ("checkpoint_metadata", "checkpoint_groups"):
                known.query(f"DELETE FROM {table} WHERE group_id = ?", item["group_id"])
        raise SnapshotMissingError(snapshot_id, "the mirror")

    patched = patch.object(FileSandbox, "verify", verify)
    patched.start()
    context.add_cleanup(patched.stop)


@when("the user reclaims space")
def reclaim(context: Context) -> None:
    known = plans(context)
    context.store_before = garbage.store_tree(known) if _has_store(context) else None
    known.act("gc")


@when("the user rehearses reclaiming space")
def rehearse(context: Context) -> None:
    context.store_before = garbage.store_tree(plans(context))
    plans(context).act("gc", "--dry-run")


@when("the user reads what is reclaimed as {form}")
def read_reclaimed(context: Context, form: str) -> None:
    context.world.agents("gc", "--format", form)


@when("the user verifies the plan's checkpoints")
def verify(context: Context) -> None:
    plans(context).act("plan", "checkpoint", "verify", plans(context).plan_id)


@when("the user verifies the checkpoint {name}")
def verify_one(context: Context, name: str) -> None:
    plans(context).act("plan", "checkpoint", "verify", plans(context).plan_id, name)


@when("the user reads the verification as {form}")
def read_verification(context: Context, form: str) -> None:
    arguments = ("plan", "checkpoint", "verify", plans(context).plan_id, "--format", form)
    context.world.agents(*arguments)


@when("the plan's records and snapshots are brought into agreement")
def reconcile(context: Context) -> None:
    with closing(plans(context).container(NoEvents())) as container:
        arguments = (container.database(), container.checkpoint_manager())
        with container.locks().hold(plans(context).plan_id) as lease:
            assert delete_unnamed_snapshots(*arguments, lease) == 1
            assert delete_unnamed_snapshots(*arguments, lease) == 0


@when("the plan is run, space reclaimed, and the plan rolled back to its first checkpoint")
def run_reclaim_roll_back(context: Context) -> None:
    context.several.run()
    for path in context.world.home.glob("mirrors/*.git/objects/??/*"):
        garbage.old(path)
    context.reclaimed = context.world.agents("gc", "--format", "json")
    verified = ("plan", "checkpoint", "verify", "@latest", "--format", "json")
    context.verified = context.world.agents(*verified)
    context.world.agents("plan", "rollback", "@latest", "@first", "--yes", "--format", "json")


@then("three stores were gone through, and every checkpoint was read back")
def three_stores(context: Context) -> None:
    summary = context.reclaimed.json["data"]["summary"]
    assert context.reclaimed.exit_code == 0 and summary["stores"] == 3, context.reclaimed
    checked = context.verified.json["data"]["summary"]
    assert checked["checked"] > 3 and checked["damaged"] == 0, context.verified


@then("the store holds what is needed and nothing else")
def only_needed(context: Context) -> None:
    assert garbage.stored(plans(context)) == garbage.needed(plans(context))


@then("all checkpoints can be read back")
def readable(context: Context) -> None:
    said = context.world.last
    arguments = ("plan", "checkpoint", "verify", plans(context).plan_id, "--format", "json")
    outcome = context.world.agents_here(*arguments)
    assert outcome.exit_code == 0 and outcome.json["data"]["summary"]["checked"] > 2, outcome
    fsck = garbage.git(plans(context), "fsck", "--full", "--no-dangling", "--no-progress")
    assert fsck == "", fsck
    context.world.outcome = said


@then("bytes were reclaimed, as many as the store has become smaller")
def reclaimed(context: Context) -> None:
    said = store(context)
    assert said["bytes_reclaimed"] == said["bytes_before"] - said["bytes_after"] > 40_000, said
    assert data(context)["summary"]["bytes_reclaimed"] == said["bytes_reclaimed"]
    private = plans(context).mirror.with_suffix(".private")
    found = [path for place in (plans(context).mirror, private) for path in place.rglob("*")]
    looks = [path.lstat() for path in found if path.is_symlink() or path.is_file()]
    own = sum(look.st_blocks * 512 for look in looks if look.st_nlink == 1)
    assert own == said["bytes_after"], (own, said)


@then("the store is as it was")
def store_as_it_was(context: Context) -> None:
    assert garbage.store_tree(plans(context)) == context.store_before


@then("reclaiming space reclaims exactly what was said")
def as_said(context: Context) -> None:
    expected = store(context)
    plans(context).act("gc")
    assert store(context) == expected, (store(context), expected)
    assert expected["bytes_reclaimed"] > 0 and expected["objects_removed"] > 0, expected


@then("{count:d} snapshot was removed")
def snapshots_removed(context: Context, count: int) -> None:
    assert store(context)["snapshots_removed"] == count, store(context)


@then("it says how much space was reclaimed")
def says_how_much(context: Context) -> None:
    said = context.world.last
    assert said.exit_code == 0, said
    assert re.search(r"Reclaimed [0-9.]+ KB", said.stdout + said.stderr), said


@then("a bar was drawn to its end")
def bar(context: Context) -> None:
    drawn = context.world.last.stderr
    assert f"Checking the mirrors [{'#' * 30}] 1 of 1\n" in drawn, drawn


@then("its store is called busy, and nothing of it went")
def busy(context: Context) -> None:
    said = store(context)
    assert said["busy"] and said["problem"] and said["bytes_reclaimed"] == 0, said
    assert data(context)["summary"]["busy"] == 1
    assert garbage.store_tree(plans(context)) == context.store_before


@then('its problem is that "{problem}", and nothing of it went')
def left_alone(context: Context, problem: str) -> None:
    said = store(context)
    assert problem in said["problem"] and not said["busy"], said
    assert garbage.store_tree(plans(context)) == context.store_before


@then("1 temporary file was removed, and it is gone")
def temporary_gone(context: Context) -> None:
    assert store(context)["temporary_files_removed"] == 1, store(context)
    assert not os.path.lexists(context.leftover)
    if context.leftover.suffix == ".keep":
        assert not context.leftover.with_suffix(".pack").exists()


@then("its bytes are counted, and it {fate}")
def other_fate(context: Context, fate: str) -> None:
    (other,) = (item for item in data(context)["stores"] if item["project_key"] == "other-0011")
    assert other["bytes_reclaimed"] == other["bytes_before"] == 4096, other
    assert other["temporary_files_removed"] == 1, other
    assert context.leftover.exists() is (fate == "stays")


@then("it is still there")
def still_there(context: Context) -> None:
    assert context.world.last.exit_code == 0, context.world.last
    assert context.leftover.exists()


@then("it is gone")
def is_gone(context: Context) -> None:
    assert not context.leftover.exists()
    assert store(context)["objects_removed"] == 1, store(context)


@then("that sandbox is kept with all its refs, and its plan is named")
def sandbox_kept(context: Context) -> None:
    place: Path = context.leftover
    assert store(context)["unknown_plans"] == [garbage.UNKNOWN], store(context)
    assert place.is_dir()
    assert garbage.UNKNOWN in garbage.git(plans(context), "for-each-ref")


@then("{amount} of unfinished sandboxes are reported, and it is {fate}")
def unfinished(context: Context, amount: str, fate: str) -> None:
    expected = {"40 KB": 40 * 1024, "no bytes": 0}[amount]
    summary = data(context)["summary"]
    assert summary["unfinished_sandbox_bytes"] == expected, summary
    assert summary["bytes_reclaimed"] == expected, summary
    assert context.leftover.exists() is (fate == "still there")


@then("nothing of that sandbox is left")
def nothing_left(context: Context) -> None:
    assert context.world.last.exit_code == 0, context.world.last
    assert not context.leftover.exists() and plans(context).sandbox.exists()


@then("it warns that the plans of the store are unknown")
def warns_unknown(context: Context) -> None:
    assert store(context)["unknown_plans"] == [context.lost_plan], store(context)
    said = " ".join(context.world.last.json["messages"])
    assert "1 plan that" in said and "not in the database" in said, said


@then("the agent finds all of that again")
def finds_again(context: Context) -> None:
    assert context.world.last.exit_code == 0, context.world.last
    found = garbage.agent(plans(context), context.agents_work)
    assert found == context.agents_view, (found, context.agents_view)


@then("all {count:d} checkpoints are whole")
def all_whole(context: Context, count: int) -> None:
    said = data(context)
    assert said["summary"] == {"checked": count, "damaged": 0}, said
    assert [item["whole"] for item in said["checkpoints"]] == [True] * count, said
    assert not [item for item in said["checkpoints"] if item["problem"] is not None], said


@then('only the checkpoint "{label}" was verified')
def one_verified(context: Context, label: str) -> None:
    expected = plans(context).checkpoint(label)
    named = {name: expected[name] for name in ("checkpoint_id", "group_id", "label")}
    assert data(context)["checkpoints"] == [named | {"whole": True, "problem": None}]


@then("the damaged checkpoints are {labels}")
def damaged_are(context: Context, labels: str) -> None:
    said = data(context)
    damaged = [item for item in said["checkpoints"] if not item["whole"]]
    assert [item["label"] for item in damaged] == labels.split(", "), damaged
    assert all("missing in" in item["problem"] for item in damaged), damaged
    assert said["summary"] == {"checked": 6, "damaged": len(damaged)}, said


@then('{count:d} checkpoints are damaged, because "{problem}"')
def all_lost(context: Context, count: int, problem: str) -> None:
    said = data(context)
    assert said["summary"] == {"checked": count, "damaged": count}, said
    assert all(problem in item["problem"] for item in said["checkpoints"]), said


@then("it names the damaged checkpoints")
def names_damaged(context: Context) -> None:
    said = context.world.last.stdout
    for item in plans(context).checkpoints():
        is_damaged = item["label"] in ("after two", "after execution")
        assert _is_damaged_in(said, item["checkpoint_id"]) is is_damaged, (item, said)


def _is_damaged_in(said: str, checkpoint_id: str) -> bool:
    """Whether a document or a table calls that checkpoint damaged."""
    if said.startswith("command:"):
        listed = yaml.safe_load(said)["data"]["checkpoints"]
        return next(not item["whole"] for item in listed if item["checkpoint_id"] == checkpoint_id)
    return "damaged" in next(line for line in said.splitlines() if checkpoint_id in line)


def _has_store(context: Context) -> bool:
    return any((context.world.home / "mirrors").glob("*.git"))
