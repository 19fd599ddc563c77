from __future__ import annotations

from datetime import datetime

from behave import given, then, when
from behave.runner import Context
from features.support.faults import apply_faults, plan_faults
from features.support.plans import data, plans
from features.support.situations.applies import applies
from features.support.trees import difference
from features.support.values import table_rows

HOOKS = (
    *("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-merge"),
    *("post-checkout", "post-index-change", "reference-transaction", "pre-merge-commit"),
)
TRAPS = (
    *("filter.trap.clean", "filter.trap.smudge", "merge.trap.driver", "diff.trap.textconv"),
    *("core.fsmonitor", "gpg.program", "core.editor", "credential.helper"),
)


@given("a plan that ran `{work}` on a project with a list of 19 lines")
def plan_ran(context: Context, work: str) -> None:
    applies(context).prepare("true", work)
    plans(context).run()


@given("a plan that ran `{work}` after the user ran `{start}`")
def plan_ran_after(context: Context, work: str, start: str) -> None:
    applies(context).prepare(start, work)
    plans(context).run()


@given("a plan that ran `{work}` on the project as it was after `{command}`")
def plan_ran_uncommitted(context: Context, work: str, command: str) -> None:
    applies(context).prepare("true", work)
    applies(context).shell(command)
    file = str(plans(context).file)
    plans(context).prepare("plan", "run", file, "--include-uncommitted")


@given("the user has since run `{command}`")
def user_ran(context: Context, command: str) -> None:
    applies(context).shell(command)


@given("the plan has been applied")
def has_been_applied(context: Context) -> None:
    plans(context).prepare("plan", "apply", plans(context).plan_id, "--yes")


@given("the environment of the user says that the author is Alan")
def other_author(context: Context) -> None:
    context.world.environment |= {
        "GIT_AUTHOR_NAME": "Alan",
        "GIT_AUTHOR_EMAIL": "alan@example.org",
    }


@when("the user applies the plan")
def apply(context: Context) -> None:
    applies(context).apply()


@when("the user applies the plan with `{options}`")
def apply_with(context: Context, options: str) -> None:
    applies(context).apply(*options.split())


@when("the user applies the plan without saying yes")
def apply_unconfirmed(context: Context) -> None:
    applies(context).before = applies(context).seen()
    plans(context).act("plan", "apply", plans(context).plan_id)


@when('the user answers "{answer}" when asked to apply')
def answered(context: Context, answer: str) -> None:
    applies(context).before = applies(context).seen()
    context.world.at_terminal = True
    plans(context).converse(answer, "plan", "apply", plans(context).plan_id)


@then("the project's files are those of the sandbox")
def files_of_sandbox(context: Context) -> None:
    files_of_sandbox_after(context, "true")


@then("the project's files are those of the sandbox after `{command}`")
def files_of_sandbox_after(context: Context, command: str) -> None:
    assert context.world.last.exit_code in (0, 3), context.world.last
    expected = applies(context).sandbox_after(command)
    found = applies(context).files(context.world.project)
    assert found == expected, difference(expected, found)


@then("the project is as it was")
def as_it_was(context: Context) -> None:
    before, now = applies(context).before, applies(context).seen()
    assert before == now, (before, now)


@then("the project's branch, index and reflog are as they were")
def git_as_it_was(context: Context) -> None:
    before, now = applies(context).before, applies(context).seen()
    assert before._replace(files={}) == now._replace(files={}), (before, now)


@then("git says in the project")
def git_says(context: Context) -> None:
    for command, expected in table_rows(context.table):
        said = applies(context).shell(command.replace("PLAN", plans(context).plan_id))
        plain = said.strip().replace("\n", "; ").replace("\t", " ")
        assert plain == plans(context).filled(expected), said


@then("the files in question are {files}")
def files_in_question(context: Context, files: str) -> None:
    assert ", ".join(context.world.last.json["error"]["details"]["files"]) == files


@then("the apply says")
def apply_says(context: Context) -> None:
    found = [
        [item["path"], item["status"], item["change"]]
        for target in data(context)["targets"]
        for item in target["files"]
    ]
    assert found == table_rows(context.table), found


@then("the apply says how long the plan took")
def apply_says_how_long(context: Context) -> None:
    seconds = data(context)["lifecycle"]["total_duration"]
    made, ended = plans(context).query("SELECT created_at, finished_at FROM plans")[0]
    lasted = datetime.fromisoformat(str(ended)) - datetime.fromisoformat(str(made))
    assert seconds == round(lasted.total_seconds(), 3) > 0, (seconds, lasted)


@then("the error's code is {code}")
def error_code(context: Context, code: str) -> None:
    assert context.world.last.json["error"]["code"] == code, context.world.last


@then("there is no file `{name}` outside")
def nothing_ran(context: Context, name: str) -> None:
    assert not (context.world.directory / name).exists()


@given("the sandbox was changed by hand")
def changed_by_hand(context: Context) -> None:
    (plans(context).sandbox / "by-hand.txt").write_text("mine\n")


@given('the plan was rolled back to "{label}"')
def was_rolled_back(context: Context, label: str) -> None:
    plans(context).prepare(*plans(context).rollback(label, "--yes"))


@given("a plan on a project without commits that ran `{work}`")
def plan_without_commits(context: Context, work: str) -> None:
    applies(context).shell("rm -rf .git ./*; git init -q -b main; echo mine > loose.txt")
    plans(context).define([{"step": "work", "does": f"runs `{work}`"}])
    plans(context).run()


@given("the project is a linked worktree")
def linked_worktree(context: Context) -> None:
    main = context.world.directory / "main"
    context.plans = plans(context)
    context.world.project.rename(main)
    applies(context).shell(f"git worktree add -q -b linked {context.world.project}", main)


@given("the project is full of traps that would make the file `{name}`")
def traps(context: Context, name: str) -> None:
    spring = f"touch {context.world.directory / name}"
    hooks = context.world.project / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in HOOKS:
        (hooks / hook).write_text(f"#!/bin/sh\n{spring}\n")
        (hooks / hook).chmod(0o755)
    for key in TRAPS:
        applies(context).shell(f"git config {key} '{spring}; cat'")


@given("a plan that writes new.txt, with the validations")
def with_validations(context: Context) -> None:
    define_with(context, [row.as_dict() for row in context.table])
    plans(context).run()


@given("a plan that was held back by a validation that would pass now")
def held_back(context: Context) -> None:
    flag = context.world.directory / "flag"
    run = f"test -e {flag}"
    define_with(context, [{"name": "flag", "run": run, "mode": "required"}])
    plans(context).run()
    plans(context).prepare("plan", "apply", plans(context).plan_id, "--yes", exit_code=4)
    flag.touch()


def define_with(context: Context, validations: list[dict[str, str]]) -> None:
    plans(context).definition |= {
        "arguments": {"word": {"default": "by work"}},
        "validations": [
            {**item, **({"timeout": int(item["timeout"])} if "timeout" in item else {})}
            for item in validations
        ],
    }
    plans(context).define([{"step": "work", "does": "writes new.txt"}])


@then("the validations on record are")
def on_record(context: Context) -> None:
    rows = plans(context).query(
        "SELECT name, mode, status, trim(output, char(10)) FROM validation_results"
        " ORDER BY started_at, validation_id"
    )
    assert [list(row) for row in rows] == table_rows(context.table), rows


@then("the events entered include {types}")
def events_entered(context: Context, types: str) -> None:
    rows = plans(context).query("SELECT type FROM events ORDER BY sequence")
    wanted = types.split(", ")
    assert [name for (name,) in rows if name in wanted] == wanted, rows


@then("the directory and the database are those of the sandboxes")
def others_of_sandboxes(context: Context) -> None:
    sandboxes = plans(context).sandbox.parent
    expected = applies(context).beside(sandboxes, "files", "base/app.db")
    found = applies(context).beside(context.world.directory, "files", "app.db")
    assert found == expected, difference(expected, found)


@then("the others' own words are")
def own_words(context: Context) -> None:
    git_says(context)


@given("the database can only be read")
def read_only_database(context: Context) -> None:
    plan_faults.install(context, apply_faults.database_that_cannot_be_written())


@given("somebody writes to the database right before it is replaced")
def written_in_between(context: Context) -> None:
    place = context.world.directory / "app.db"
    plan_faults.install(context, apply_faults.database_written_to_in_between(place))
