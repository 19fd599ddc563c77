from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from behave import given, then, when
from behave.runner import Context
from features.support.plans import data, plans
from features.support.values import table_rows


@given("the plan")
def plan_as_written(context: Context) -> None:
    text = context.text.replace("OUTSIDE", str(context.world.directory))
    plans(context).file.write_text(text)


def walk(node: dict[str, Any], depth: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
    yield depth, node
    for child in node["children"]:
        yield from walk(child, depth + 1)


def tree_of(context: Context, *options: str) -> list[tuple[int, dict[str, Any]]]:
    """The plan's tree as the user sees it, from the top down."""
    said = context.world.outcome
    shown = context.world.agents_here(
        *("plan", "tree", plans(context).plan_id, "--format", "json", *options)
    )
    context.world.outcome = said
    return list(walk(shown.json["data"]["tree"]))


@when("the user looks at the plan's tree")
def look_at_tree(context: Context) -> None:
    plans(context).act("plan", "tree", plans(context).plan_id)


@when('the user asks for an explanation of "{question}"')
def explain(context: Context, question: str) -> None:
    found = [node for _, node in tree_of(context) if node["question"] == question]
    plans(context).act("plan", "explain", found[0]["decision_id"])


@then("the tree is")
def tree_is(context: Context) -> None:
    found = [
        [str(depth), node["question"], node["chosen"], node["type"]]
        for depth, node in walk(data(context)["tree"])
    ]
    assert found == table_rows(context.table), found


@then("the explanation says")
def explanation_says(context: Context) -> None:
    said = data(context)
    said["artifacts"] = ", ".join(said["impact"]["artifacts_produced"])
    said["downstream"] = said["impact"]["downstream_decisions"]
    found = [[name, str(said[name])] for name, _ in table_rows(context.table)]
    assert found == table_rows(context.table), said


@then("the decisions that stand are {questions}")
def decisions_that_stand(context: Context, questions: str) -> None:
    found = [node["question"] for _, node in tree_of(context)]
    assert ", ".join(found) == questions, found


@then("the tree with what is superseded has {count:d} decisions")
def whole_tree(context: Context, count: int) -> None:
    assert len(tree_of(context, "--show-superseded")) == count, tree_of(context)


@then("the report says that {count:d} decisions were discarded")
def discarded(context: Context, count: int) -> None:
    assert data(context)["impact"]["decisions_after_cp"] == f"{count} discarded", data(context)


@then('the checkpoint "{label}" belongs to the decision "{question}"')
def belongs_to(context: Context, label: str, question: str) -> None:
    decision = plans(context).checkpoint(label)["decision_id"]
    found = plans(context).query("SELECT question FROM decisions WHERE decision_id = ?", decision)
    assert found == [(question,)], found
