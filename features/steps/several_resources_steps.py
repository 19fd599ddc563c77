from __future__ import annotations

from behave import given, then, when
from behave.runner import Context
from features.support.situations.several_resources import SeveralResources
from features.support.situations.state_hashes import stored_state_hash
from features.support.values import table_rows


@given("a project with a directory `data` and a database `app.db` that git ignores")
def project(context: Context) -> None:
    context.several = SeveralResources(context.world)


@given("a plan on all three whose steps write to all of them")
def on_all(context: Context) -> None:
    context.several.plan_on_all()


@given("a plan on all three that decides after it changed two, one and none of them")
def with_decisions(context: Context) -> None:
    context.several.plan_with_decisions()


@given("a plan on all three that writes these files to the project and to `data`")
def on_odd_names(context: Context) -> None:
    context.several.plan_on_odd_names([name for (name,) in table_rows(context.table)])


@given("a plan on `app.db` alone, in a directory without git")
def on_database(context: Context) -> None:
    context.several.plan_on_database()


@given("a plan on `data` that requires no sandbox")
def without_sandbox(context: Context) -> None:
    context.several.plan_without_sandbox()


@given("the project is no longer a repository")
def no_repository(context: Context) -> None:
    context.several.leave_git()


@when("the plan is run")
def run_plan(context: Context) -> None:
    context.several.run()


@when("the plan is run and rolled back to its first checkpoint")
def run_and_return(context: Context) -> None:
    context.several.roll_back()


@when("the plan is run and rolled back to the beginning of the ids of its first group")
def run_and_return_to_beginning(context: Context) -> None:
    context.several.roll_back_to_beginning_of_ids()


@when("the plan is run and the checkpoints of its database are compared")
def run_and_compare(context: Context) -> None:
    context.several.compare()


@when("the plan is run and its patch is shown")
def run_and_show(context: Context) -> None:
    context.several.show_patch()


@then("the patch has these headers")
def has_headers(context: Context) -> None:
    lines = context.world.last.stdout.splitlines()
    missing = [header for (header,) in table_rows(context.table) if header not in lines]
    assert not missing, (missing, lines)


@then("every sandbox is as it was before the run")
def as_before(context: Context) -> None:
    context.several.expect_as_before()


@then("the user's own files were never touched")
def never_touched(context: Context) -> None:
    context.several.expect_untouched()


@then("its sandboxes are")
def sandboxes_are(context: Context) -> None:
    found = [
        [
            item["resource"],
            item["strategy"],
            "yes" if item["branch"] else "no",
            "yes" if item["copy"] in ("copy", "reflink") else "no",
            ", ".join(each["path"] for each in item["skipped"]) or "no",
        ]
        for item in context.several.sandboxes
    ]
    assert found == table_rows(context.table), found


@then("the run warned that {warning}")
def warned(context: Context, warning: str) -> None:
    assert warning in context.several.warnings, context.several.warnings


@then("the comparison says that app.db has one row more")
def one_row_more(context: Context) -> None:
    data = context.world.last.json["data"]
    assert [(item["path"], item["status"]) for item in data["files"]] == [("app.db", "modified")]
    (patched,) = data["patch_preview"]
    (hunk,) = patched["hunks"]
    assert "-0 rows\n+1 row\n" in hunk, hunk


@then("the comparison names each file with its resource, in the patch too")
def named_with_resource(context: Context) -> None:
    data = context.world.last.json["data"]
    listed = [item["path"] for item in data["files"]]
    assert {path.split("/")[0] for path in listed} == {"project", "files", "base"}, listed
    assert [item["file"] for item in data["patch_preview"]] == listed, data["patch_preview"]


@then("it ends with exit code {code:d} and `{sentence}`")
def ends_with(context: Context, code: int, sentence: str) -> None:
    outcome = context.world.last
    assert outcome.exit_code == code, outcome
    assert sentence in outcome.stdout + outcome.stderr, outcome


@then("the directory `data` has the plan's own file")
def own_file(context: Context) -> None:
    assert (context.world.project / "data" / "own").read_text() == "x"


@then("the rows of its checkpoints are")
def rows_of_checkpoints(context: Context) -> None:
    found = context.several.rows_by_label()
    expected = {row["label"]: row["resources"].split(", ") for row in context.table}
    assert {label: found.get(label) for label in expected} == expected, found


@then("each of its groups has the state hash of every snapshot that it names")
def hashes_of_groups(context: Context) -> None:
    home, groups = context.world.home, context.several.groups()
    assert groups
    for snapshots, state_hashes in groups:
        assert len(snapshots) == 3, snapshots
        wanted = {key: stored_state_hash(home, snapshot) for key, snapshot in snapshots.items()}
        assert state_hashes == wanted, (state_hashes, wanted)
