from __future__ import annotations

from pathlib import Path
from typing import Any

from behave import given, then
from behave.runner import Context
from features.support.plans import data, plans
from features.support.situations.applies import applies

REPOSITORY = {"type": "git-checkout", "path": "."}
DOCS = {"type": "fs-directory", "path": "docs"}


def _define(context: Context, resources: dict[str, Any], steps: list[dict[str, Any]]) -> None:
    plans(context).definition.update(resources=resources, steps=steps)
    plans(context).write()


def _write(path: str, content: str, resource: str | None = None) -> dict[str, Any]:
    step = {"tool": "write-file", "with": {"path": path, "content": content}}
    return step if resource is None else {**step, "resource": resource}


@given("the project has a directory `docs` in its commit")
def docs_in_commit(context: Context) -> None:
    applies(context).shell(
        "mkdir docs; echo old > docs/old.txt; git add docs; "
        "git -c user.name=a -c user.email=a@example.org commit -qm docs"
    )


@given("a plan on the repository and its directory `docs` that writes to both")
def writes_both(context: Context) -> None:
    printed = 'printf "from the tool: $CLEVERAGENTS_RESOURCE_DOCS" > new.txt'
    _define(
        context,
        {"project": REPOSITORY, "docs": DOCS},
        [
            _write("top.txt", "in docs: {{ resources.docs.path }}"),
            {"tool": "shell", "with": {"command": printed}, "resource": "docs"},
        ],
    )


@given("a plan on its directory `docs` first and then the repository")
def docs_first(context: Context) -> None:
    _define(context, {"docs": DOCS, "project": REPOSITORY}, [_write("here.txt", "here")])
    plans(context).definition["validations"] = [{"name": "here", "run": "test -f here.txt"}]
    plans(context).write()


@given("a plan with a subplan on the shared directory `docs`")
def subplan_on_docs(context: Context) -> None:
    child = {"resources": ["docs"], "steps": [_write("child.txt", "child")]}
    _define(
        context,
        {"project": REPOSITORY, "docs": DOCS},
        [{"name": "more", "subplans": {"plans": {"child": child}}}],
    )


@given("a plan on the repository under two names that writes to both")
def two_names(context: Context) -> None:
    _define(
        context,
        {"project": REPOSITORY, "copy": REPOSITORY},
        [_write("a.txt", "a"), _write("b.txt", "b", "copy")],
    )


@given("a plan on the repository and its directory `docs`, which will be copied")
def copied(context: Context) -> None:
    docs = {**DOCS, "strategy": "filesystem_copy"}
    _define(context, {"project": REPOSITORY, "docs": docs}, [_write("a.txt", "a")])


@then("the plan has the one sandbox `{name}`")
def one_sandbox(context: Context, name: str) -> None:
    found = [item["resource"] for item in data(context)["execution"]["sandboxes"]]
    assert found == [name], found


@then('the shared resources are "{text}"')
def shared_resources(context: Context, text: str) -> None:
    [item] = data(context)["execution"]["shared"]
    found = f"{item['resource']} in {item['sandbox']} at {item['path']}"
    assert found == plans(context).filled(text), item


@then("the sandbox of the project has these files")
def has_files(context: Context) -> None:
    for row in context.table:
        content = (plans(context).sandbox / row["path"]).read_text()
        assert content == plans(context).filled(row["content"]), (row, content)


@then("the one target of the apply is `{name}`")
def one_target(context: Context, name: str) -> None:
    found = [item["resource"] for item in data(context)["targets"]]
    assert found == [name], found


@then("the sandbox of the project had `{path}`")
def applied_file(context: Context, path: str) -> None:
    assert Path(context.world.project, path).is_file()
