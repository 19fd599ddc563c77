from __future__ import annotations

import json
import subprocess
from datetime import datetime

from behave import given, then, when
from behave.runner import Context
from features.support.plans import data, plans
from features.support.situations.state_hashes import stored_state_hash
from features.support.trees import difference


@given('a checkpoint "{label}" has been made by hand')
def made_by_hand(context: Context, label: str) -> None:
    plans(context).prepare("plan", "checkpoint", "create", plans(context).plan_id, "--label", label)


@when('the user makes a checkpoint "{label}"')
def make_checkpoint(context: Context, label: str) -> None:
    plans(context).act("plan", "checkpoint", "create", plans(context).plan_id, "--label", label)


@when("the user lists the checkpoints")
def list_checkpoints(context: Context) -> None:
    plans(context).act("plan", "checkpoint", "list", plans(context).plan_id)


@when('the user looks at the checkpoint "{label}"')
def show_checkpoint(context: Context, label: str) -> None:
    chosen = plans(context).checkpoint(label)["checkpoint_id"]
    plans(context).act("plan", "checkpoint", "show", plans(context).plan_id, chosen)


@then("the checkpoints are")
def checkpoints_are(context: Context) -> None:
    expected = [row.as_dict() for row in context.table]
    found = [
        item | {"step": str(item["step_index"] + 1), "tool": item["source_tool"] or ""}
        for item in plans(context).checkpoints()
    ]
    shown = [{name: item[name] for name in context.table.headings} for item in found]
    assert shown == expected, shown


@then("the checkpoints are {labels}")
def labels_are(context: Context, labels: str) -> None:
    assert plans(context).labels() == [label.strip() for label in labels.split(",")], plans(
        context
    ).labels()


@then('the sandbox is as it was at "{label}"')
def as_it_was(context: Context, label: str) -> None:
    expected, found = plans(context).seen_at(label), plans(context).found()
    assert found.files == expected.files, difference(expected.files, found.files)
    assert found.git == expected.git, (expected.git, found.git)


@then("each has a time, a step, a state hash and a label, and so have its row and the view")
def four_facts(context: Context) -> None:
    listed = data(context)["checkpoints"]
    table = plans(context).query(
        "SELECT checkpoint_id, plan_id, sandbox_ref, created_at, metadata_json"
        " FROM checkpoint_metadata ORDER BY sequence"
    )
    view = plans(context).query("SELECT * FROM checkpoints ORDER BY checkpoint_id")
    assert table == view and len(table) == len(listed) == 6, view
    for item, (checkpoint_id, plan_id, sandbox_ref, created_at, described) in zip(
        listed, table, strict=True
    ):
        stored = json.loads(described)
        assert (item["checkpoint_id"], plan_id) == (checkpoint_id, plans(context).plan_id)
        assert item["sandbox_ref"] == sandbox_ref
        assert datetime.fromisoformat(item["created_at"]).utcoffset() is not None
        assert str(created_at).replace(" ", "T")[:19] == item["created_at"][:19]
        facts = {name: item[name] for name in ("label", "step_index", "state_hash")}
        assert facts == {name: stored[name] for name in facts}, stored
        assert item["state_hash"] == stored_state_hash(context.world.home, sandbox_ref), item
        assert item["label"], item


@given("the user has changed the sandbox by `{command}`")
def change_sandbox(context: Context, command: str) -> None:
    place = plans(context).sandbox
    subprocess.run(
        ["/bin/sh", "-ec", command], cwd=place, env=context.world.environment, check=True
    )


@given("the project wants the triggers {names}")
def project_triggers(context: Context, names: str) -> None:
    place = context.world.project / ".cleveragents" / "config.toml"
    place.parent.mkdir()
    place.write_text(f"[sandbox.checkpoint]\nauto-create-on = {names.split(', ')!r}\n")


@then("all checkpoints name the same snapshot")
def same_snapshot(context: Context) -> None:
    listed = plans(context).checkpoints()
    found = {(item["sandbox_ref"], item["state_hash"]) for item in listed}
    assert len(listed) == 4 and len(found) == 1, listed


@then("only the first checkpoint added bytes")
def free(context: Context) -> None:
    first, *others = (item["size_bytes"] for item in plans(context).checkpoints())
    assert first > 0 and not any(others), (first, others)


@then('the checkpoint "{label}" holds the project after `{command}`')
def holds(context: Context, label: str, command: str) -> None:
    commit = plans(context).checkpoint(label)["sandbox_ref"]
    expected = plans(context).project_after(command)
    found = plans(context).stored(commit)
    assert found == expected, difference(expected, found)


@then('the plan\'s error names the checkpoint "{label}"')
def error_names(context: Context, label: str) -> None:
    chosen = plans(context).checkpoint(label)["checkpoint_id"]
    assert plans(context).status()["error"]["checkpoint"] == chosen, plans(context).status()


@then('the document describes the checkpoint "{label}"')
def describes(context: Context, label: str) -> None:
    assert data(context) == plans(context).checkpoint(label), data(context)


@then("the mirror keeps the snapshots of these and no others")
def refs_follow(context: Context) -> None:
    expected = {item["sandbox_ref"] for item in plans(context).checkpoints(everything=True)}
    assert expected and plans(context).refs() == expected, (expected, plans(context).refs())


@then(
    "the summary says {count:d} checkpoints of {states:d} states of at most {limit:d}, "
    "and {dropped:d} dropped"
)
def summary(context: Context, count: int, states: int, limit: int, dropped: int) -> None:
    sizes = sum(item["size_bytes"] for item in data(context)["checkpoints"])
    expected = {
        "count": count,
        "limit": limit,
        "states": states,
        "dropped": dropped,
        "total_size_bytes": sizes,
    }
    assert data(context)["summary"] == expected, data(context)["summary"]


@then("the document counts {count:d} dropped checkpoints")
def counts_dropped(context: Context, count: int) -> None:
    assert data(context)["execution"]["checkpoints_dropped"] == count, data(context)["execution"]


@then('the checkpoint "{label}" added about {size:d} bytes, and the others less than {less:d}')
def added_about(context: Context, label: str, size: int, less: int) -> None:
    found = {item["label"]: item["size_bytes"] for item in plans(context).checkpoints()[1:]}
    assert size <= found.pop(label) < 1.2 * size, found
    assert max(found.values(), default=0) < less, found


@then('the checkpoint "{label}" is recorded as')
def recorded_as(context: Context, label: str) -> None:
    found = plans(context).checkpoint(label)
    (expected,) = [row.as_dict() for row in context.table]
    assert {name: found[name] for name in expected} == expected, found
