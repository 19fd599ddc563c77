from __future__ import annotations

import errno
import json
import subprocess
import sys
from unittest.mock import Mock, patch

from behave import given, then, when
from behave.runner import Context
from features.support.faults import paused
from features.support.plans import data, plans
from features.support.situations import retention
from features.support.sweeps import fault_sweep

from cleveragents.application.fault_points import FaultPoint
from cleveragents.domain.errors import CleverAgentsError, SnapshotError
from cleveragents.infrastructure.sandbox.files.sandbox import FileSandbox
from cleveragents.infrastructure.sandbox.store.refs import SnapshotRefs


@given('the checkpoint "{label}" is pinned')
def is_pinned(context: Context, label: str) -> None:
    plans(context).prepare(*retention.named(plans(context), "pin", f'"{label}"'))


@given("the checkpoints {labels} are pinned")
def are_pinned(context: Context, labels: str) -> None:
    plans(context).prepare(*retention.named(plans(context), "pin", labels))


@given('the checkpoint "{label}" has been unpinned')
def has_been_unpinned(context: Context, label: str) -> None:
    plans(context).prepare(*retention.named(plans(context), "unpin", f'"{label}"'))


@given('the checkpoint "{label}" has been deleted')
def has_been_deleted(context: Context, label: str) -> None:
    context.deleted = plans(context).checkpoint(label)
    plans(context).prepare(*retention.named(plans(context), "delete", f'"{label}"', "--yes"))


@given('checkpoints "{first}" and "{second}" of two states have been made by hand')
def two_states(context: Context, first: str, second: str) -> None:
    for label in (first, second):
        (plans(context).sandbox / "state.txt").write_text(f"{label}\n")
        arguments = ("plan", "checkpoint", "create", plans(context).plan_id, "--label", label)
        assert context.world.agents_here(*arguments).exit_code == 0, context.world.last


@given("the user has set the limit to {limit:d}")
def set_limit(context: Context, limit: int) -> None:
    key = "sandbox.checkpoint.max-checkpoints-per-plan"
    plans(context).prepare("config", "set", key, str(limit))


@given("the store refuses to drop snapshots")
def refuses_to_drop(context: Context) -> None:
    error = SnapshotError("The disk gave up")
    context.refusing = patch.object(FileSandbox, "delete", side_effect=error)
    context.refusing.start()
    context.add_cleanup(patch.stopall)


@given("the file system does not let refs be removed")
def refs_stay(context: Context) -> None:
    error = PermissionError(errno.EACCES, "Permission denied")
    context.refusing = patch.object(SnapshotRefs, "_drop", side_effect=error)
    context.refusing.start()
    context.add_cleanup(patch.stopall)


@given("a plan with {count:d} checkpoints of different states")
def many_states(context: Context, count: int) -> None:
    context.many = retention.ManyStates(plans(context))
    context.many.make(count)
    context.bytes_before = retention.store_bytes(plans(context))


@given('another process, rolling back to "{label}", waits at {point}')
def paused_rollback(context: Context, label: str, point: str) -> None:
    arguments = [*plans(context).rollback(label, "--yes"), "--format", "json"]
    paused.start_paused(context, point, *arguments)


@when("the user pins the checkpoints {labels}")
def pin(context: Context, labels: str) -> None:
    plans(context).act(*retention.named(plans(context), "pin", labels))


@when("the user unpins the checkpoints {labels}")
def unpin(context: Context, labels: str) -> None:
    plans(context).act(*retention.named(plans(context), "unpin", labels))


@when("the user deletes the checkpoints {labels}")
def delete(context: Context, labels: str) -> None:
    context.stored_before = retention.stored_snapshots(plans(context))
    plans(context).act(*retention.named(plans(context), "delete", labels, "--yes"))


@when("the user {verb} what is called {texts}")
def act_on_text(context: Context, verb: str, texts: str) -> None:
    command = {"pins": "pin", "unpins": "unpin", "deletes": "delete"}[verb]
    options = ["--yes"] if command == "delete" else []
    words = plans(context).filled(texts).split()
    plans(context).act("plan", "checkpoint", command, plans(context).plan_id, *words, *options)


@when("the user deletes it once more")
def delete_again(context: Context) -> None:
    chosen = context.deleted["checkpoint_id"]
    arguments = ("plan", "checkpoint", "delete", plans(context).plan_id, chosen, "--yes")
    plans(context).act(*arguments)


@when('the user {verb} the first plan\'s "{label}" in that plan')
def act_on_foreign(context: Context, verb: str, label: str) -> None:
    command = {"pins": "pin", "deletes": "delete"}[verb]
    foreign = plans(context).checkpoint(label)["checkpoint_id"]
    plans(context).act("plan", "checkpoint", command, plans(context).other, foreign)


@when("the user asks to delete the checkpoints {labels}")
def ask_to_delete(context: Context, labels: str) -> None:
    plans(context).act(*retention.named(plans(context), "delete", labels))


@when('the user answers "{answer}" when asked to delete the checkpoints {labels}')
def answer_delete(context: Context, answer: str, labels: str) -> None:
    plans(context).converse(answer, *retention.named(plans(context), "delete", labels))


@when('the user answers "{answer}" when asked to delete all checkpoints but the last')
def answer_delete_all(context: Context, answer: str) -> None:
    ids = [item["checkpoint_id"] for item in plans(context).checkpoints()[:-1]]
    plans(context).converse(answer, "plan", "checkpoint", "delete", plans(context).plan_id, *ids)


@when("the user rehearses deleting the checkpoints {labels}")
def rehearse_delete(context: Context, labels: str) -> None:
    plans(context).act(*retention.named(plans(context), "delete", labels, "--dry-run"))


@when("a program tries to prune the plan's checkpoints")
def program_prunes(context: Context) -> None:
    container = plans(context).container(Mock())
    context.add_cleanup(container.close)
    try:
        container.checkpoint_service().prune_checkpoints(plans(context).plan_id)
    except CleverAgentsError as error:
        context.refusal = error


@when("a program {verb} the first plan's \"{label}\" as if it were that plan's")
def program_on_foreign(context: Context, verb: str, label: str) -> None:
    container = plans(context).container(Mock())
    context.add_cleanup(container.close)
    chosen = plans(context).checkpoint(label)["checkpoint_id"]
    found = container.checkpoint_service().find_checkpoint(plans(context).plan_id, chosen)
    service = container.retention_service()
    act = {"pins": service.pin, "deletes": service.delete_checkpoints}[verb]
    plans(context).before = plans(context).everything()
    try:
        act(plans(context).other, [found])
    except CleverAgentsError as error:
        context.refusal = error


@when('deleting the checkpoint "{label}" is killed at {point}')
def killed_deletion(context: Context, label: str, point: str) -> None:
    arguments = retention.named(plans(context), "delete", f'"{label}"', "--yes")
    assert fault_sweep.killed_at(plans(context), FaultPoint(point), 1, *arguments)


@when('three processes roll back to "{label}" and three make checkpoints, all at once')
def all_at_once(context: Context, label: str) -> None:
    create = ["plan", "checkpoint", "create", plans(context).plan_id]
    commands = [plans(context).rollback(label, "--yes"), create] * 3
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "cleveragents", *command, "--format", "json"],
            env=context.world.environment,
            cwd=context.world.project,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for command in commands
    ]
    context.outcomes = [(*process.communicate(), process.returncode) for process in started]


@then("the user was asked")
def was_asked(context: Context) -> None:
    asked = plans(context).filled(context.text)
    assert context.world.last.stderr.strip() == asked, context.world.last


@then("the document lists the checkpoints {labels}")
def tells_of(context: Context, labels: str) -> None:
    found = [item["label"] for item in data(context)["checkpoints"]]
    assert found == retention.labels_in(labels), found


@then("the pinned checkpoints are {labels}")
def pinned_are(context: Context, labels: str) -> None:
    listed = plans(context).checkpoints(everything=True)
    found = [item["label"] for item in listed if item["pinned"]]
    assert found == retention.labels_in(labels), found


@then('the checkpoint "{label}" is gone')
def is_gone(context: Context, label: str) -> None:
    listed = plans(context).checkpoints(everything=True)
    assert listed and label not in [item["label"] for item in listed], listed


@then("the operation that cannot be undone is named")
def operation_named(context: Context) -> None:
    rows = plans(context).query("SELECT operation_id, kind, note FROM operations")
    expected = [dict(zip(("operation_id", "kind", "note"), row, strict=True)) for row in rows]
    assert len(expected) == 1 and data(context)["not_undoable"] == expected, data(context)


@then("no checkpoint is pinned")
def none_pinned(context: Context) -> None:
    assert not [item for item in plans(context).checkpoints(everything=True) if item["pinned"]]


@then("each checkpoint of that moment is called pinned")
def all_called_pinned(context: Context) -> None:
    found = data(context)["checkpoints"]
    assert [item["resource"] for item in found] == ["project", "docs"], found
    assert len({item["group_id"] for item in found}) == 1, found
    assert all(item["pinned"] for item in found), found
    assert data(context)["changed"] == [item["checkpoint_id"] for item in found], found


@then('only the line of "{label}" says that it is pinned')
def line_says(context: Context, label: str) -> None:
    lines = context.world.last.stdout.splitlines()
    marked = [line for line in lines if "pinned" in line]
    chosen = plans(context).checkpoint(label)["checkpoint_id"]
    assert len(marked) == 1 and chosen in marked[0], context.world.last.stdout


@then("stores and records name the same snapshots")
def same_snapshots(context: Context) -> None:
    stored = retention.stored_snapshots(plans(context))
    recorded = retention.recorded_snapshots(plans(context))
    assert stored == recorded and recorded, (stored, recorded)


@then("{count:d} snapshot went")
def snapshots_went(context: Context, count: int) -> None:
    gone = context.stored_before - retention.stored_snapshots(plans(context))
    assert len(gone) == count, gone
    assert data(context)["summary"]["snapshots_dropped"] == count, data(context)["summary"]


@then("{count:d} snapshots more are stored than recorded")
def more_stored(context: Context, count: int) -> None:
    extra = retention.stored_snapshots(plans(context)) - retention.recorded_snapshots(
        plans(context)
    )
    assert len(extra) == count, extra


@then("taking the plan up again drops them")
def dropped_next(context: Context) -> None:
    if "refusing" in context:
        context.refusing.stop()
    outcome = context.world.agents_here("plan", "execute", plans(context).plan_id)
    assert outcome.exit_code == 0, outcome
    same_snapshots(context)


@then("no moment is left in part")
def whole_moments(context: Context) -> None:
    """Every group that an event names has all its checkpoints, or none."""
    rows = plans(context).query("SELECT data_json FROM events WHERE type = 'checkpoint.created'")
    events = [json.loads(text) for (text,) in rows]
    made = {fact["group_id"]: len(fact["resources"]) for fact in events}
    left = dict(
        plans(context).query("SELECT group_id, count(*) FROM checkpoint_metadata GROUP BY group_id")
    )
    groups = {row[0] for row in plans(context).query("SELECT group_id FROM checkpoint_groups")}
    assert groups == left.keys() and len(groups) < len(made), (groups, left, made)
    assert left == {group: made[group] for group in groups}, (left, made)
    assert max(left.values()) > 1, left


@then("the checkpoints of the first state and the newest {count:d} are left")
def right_ones_left(context: Context, count: int) -> None:
    """The run itself changes nothing, so the checkpoints before and after it have one state."""
    made = context.many.made
    context.left = [*made[:2], *made[-count:]]
    found = plans(context).labels()
    assert found == context.left, found


@then("the store has shrunk to about what a plan with only these needs")
def shrunk(context: Context) -> None:
    """Before, it held four times the states, and so it was much larger than what is needed."""
    needed = context.many.bytes_of_control(context.left)
    before, after = context.bytes_before, retention.store_bytes(plans(context))
    assert before > 2 * needed, (before, after, needed)
    assert after < 1.1 * needed, (before, after, needed)


@then("each of them brings back its own state")
def each_restores(context: Context) -> None:
    assert context.many.restore_each(context.left) == len(context.left) == 51


@then("it is refused because the other process holds the plan")
def refused_held(context: Context) -> None:
    outcome = context.world.last
    assert outcome.exit_code == 6, outcome
    error = outcome.json["error"]
    assert error["code"] == "busy" and error["hint"], error
    assert error["details"]["holder"]["process_id"] == context.process.pid, error


@then("the program is told that the other process holds the plan")
def program_told_held(context: Context) -> None:
    assert context.refusal.exit_code == 6, context.refusal
    assert context.refusal.details["holder"]["process_id"] == context.process.pid


@then('the other process ends with the plan at "{label}" and with a way back')
def other_ends_at(context: Context, label: str) -> None:
    said, complained, status = paused.let_go_on(context)
    assert status == 0, (said, complained)
    done = json.loads(said)["data"]
    assert done["verified"] and done["rollback_summary"]["label"] == label, done
    assert plans(context).found() == plans(context).seen_at(label)
    listed = [item["checkpoint_id"] for item in plans(context).checkpoints()]
    assert done["rollback_summary"]["checkpoint"] in listed, listed
    assert done["operation"]["safety_checkpoint_id"] in listed, listed
    plans(context).check_whole([])


@then("each has done its work or was refused, and the last rollback can be undone")
def none_lost(context: Context) -> None:
    codes = [status for _, _, status in context.outcomes]
    assert 0 in codes and set(codes) <= {0, 5, 6}, context.outcomes
    plans(context).check_whole([])
    same_snapshots(context)
    rolled_back = plans(context).query("SELECT count(*) FROM operations") != [(0,)]
    undone = context.world.agents_here("plan", "undo", plans(context).plan_id, "--yes")
    assert undone.exit_code == 0, undone
    # Where every rollback was refused, the steps are the newest entry.
    what = "rollback to before two" if rolled_back else "steps 1 to 2"
    assert f"Undone: {what}" in undone.stderr, undone


@then("a checkpoint is gone only if it was gone before a rollback to it began")
def gone_before(context: Context) -> None:
    for said, _, status in context.outcomes:
        if status == 5:
            assert json.loads(said)["error"]["code"] == "checkpoint_not_found", said
    begun = plans(context).query("SELECT count(*) FROM operations WHERE status != 'completed'")
    assert begun == [(0,)], begun
