from __future__ import annotations

from behave import then, when
from behave.runner import Context
from features.support.plans import data, plans
from features.support.situations.applies import applies
from features.support.values import table_rows


@when("the user asks for the plan's artifacts")
def ask(context: Context) -> None:
    plans(context).act("plan", "artifacts", plans(context).plan_id)


@then("the artifacts are")
def artifacts_are(context: Context) -> None:
    found = [
        [
            *(item["path"], item["type"], item["change"]),
            *("" if item["size"] is None else str(item["size"]), item["tool"]),
        ]
        for item in data(context)["artifacts"]
    ]
    assert found == table_rows(context.table), found


@then(
    "the summary of the artifacts is {total:d} in all, {writes:d} written, {edits:d} edited, "
    "{deletes:d} deleted, {size:d} bytes, {state}"
)
def summary(
    context: Context, total: int, writes: int, edits: int, deletes: int, size: int, state: str
) -> None:
    expected = {
        "total": total,
        "writes": writes,
        "edits": edits,
        "deletes": deletes,
        "total_size": size,
    }
    assert data(context)["summary"] == expected, data(context)["summary"]
    assert data(context)["applied"] is (state == "applied"), data(context)


@then("the artifacts name the project's last commit")
def last_commit(context: Context) -> None:
    commit = applies(context).shell("git rev-parse HEAD").strip()
    assert data(context)["commits"] == [commit], data(context)["commits"]
