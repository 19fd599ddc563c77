from __future__ import annotations

from unittest.mock import Mock

from behave import given, then, when
from behave.runner import Context
from features.support import retention
from features.support.plans import data, plans

from cleveragents.domain.errors import CleverAgentsError


@given('the checkpoint "{label}" is pinned')
def is_pinned(context: Context, label: str) -> None:
    plans(context).prepare(*retention.named(plans(context), "pin", f'"{label}"'))


@given("the checkpoints {labels} are pinned")
def are_pinned(context: Context, labels: str) -> None:
    plans(context).prepare(*retention.named(plans(context), "pin", labels))


@given('the checkpoint "{label}" has been unpinned')
def has_been_unpinned(context: Context, label: str) -> None:
    plans(context).prepare(*retention.named(plans(context), "unpin", f'"{label}"'))


@when("the user pins the checkpoints {labels}")
def pin(context: Context, labels: str) -> None:
    plans(context).act(*retention.named(plans(context), "pin", labels))


@when("the user unpins the checkpoints {labels}")
def unpin(context: Context, labels: str) -> None:
    plans(context).act(*retention.named(plans(context), "unpin", labels))


@when("the user {verb} what is called {texts}")
def act_on_text(context: Context, verb: str, texts: str) -> None:
    command = {"pins": "pin", "unpins": "unpin"}[verb]
    words = plans(context).filled(texts).split()
    plans(context).act("plan", "checkpoint", command, plans(context).plan_id, *words)


@when("a program {verb} the first plan's \"{label}\" as if it were that plan's")
def program_on_foreign(context: Context, verb: str, label: str) -> None:
    container = plans(context).container(Mock())
    context.add_cleanup(container.close)
    chosen = plans(context).checkpoint(label)["checkpoint_id"]
    found = container.checkpoint_service().find_checkpoint(plans(context).plan_id, chosen)
    service = container.retention_service()
    act = {"pins": service.pin}[verb]
    plans(context).before = plans(context).everything()
    try:
        act(plans(context).other, [found])
    except CleverAgentsError as error:
        context.refusal = error


@then("the document tells of the checkpoints {labels}")
def tells_of(context: Context, labels: str) -> None:
    found = [item["label"] for item in data(context)["checkpoints"]]
    assert found == retention.labels_in(labels), found


@then("the pinned checkpoints are {labels}")
def pinned_are(context: Context, labels: str) -> None:
    listed = plans(context).checkpoints(everything=True)
    found = [item["label"] for item in listed if item["pinned"]]
    assert found == retention.labels_in(labels), found


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
