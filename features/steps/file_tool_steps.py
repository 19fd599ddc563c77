from __future__ import annotations

import json

from behave import given, then, when
from behave.runner import Context
from features.support.tools import (
    bench_of,
    full_disk,
    problems_with,
    refuse_directory_renames,
    surround_with_hostile_repository,
    vanish_after_first_look,
)
from features.support.values import plain, table_rows
from msgspec.structs import replace

from cleveragents.domain.record import JsonValue
from cleveragents.infrastructure.tools.files.patch import APPLY_PATCH
from cleveragents.infrastructure.tools.files.search import SEARCH_FILES


@when("a tool with an input of type {kind} is given `{value}`")
def give_value(context: Context, kind: str, value: str) -> None:
    context.problems = problems_with(kind, json.loads(value))


@then("nothing is wrong with that")
def no_problems(context: Context) -> None:
    assert context.problems == [], context.problems


@then("the input is wrong: the value {reason}")
def one_problem(context: Context, reason: str) -> None:
    assert context.problems == [f"`value` {reason}"], context.problems


@given("the file {path} is also called {other}")
def second_name(context: Context, path: str, other: str) -> None:
    bench_of(context).file(other).hardlink_to(bench_of(context).file(path))


@given("directories cannot be renamed, as in the lower layer of an overlay")
def overlay_renames(context: Context) -> None:
    context.add_cleanup(refuse_directory_renames())


@when("a tool replaces `{old}` by `{new}` in {path}")
def edit(context: Context, old: str, new: str, path: str) -> None:
    bench_of(context).run("edit-file", {"path": path, "old": plain(old), "new": plain(new)})


@when("a tool moves {source} to {target}")
def move(context: Context, source: str, target: str) -> None:
    bench_of(context).run("move-file", {"from": plain(source), "to": plain(target)})


@when("a tool moves {source} over {target}")
def move_over(context: Context, source: str, target: str) -> None:
    given_input = {"from": source, "to": target, "overwrite": True}
    bench_of(context).run("move-file", given_input)


@then("the link {path} points to {target}")
def link_target(context: Context, path: str, target: str) -> None:
    found = str(bench_of(context).file(path).readlink())
    assert found == bench_of(context).placed(target), found


def patch(context: Context, text: str, **more: JsonValue) -> None:
    context.patch = text
    bench_of(context).run("apply-patch", {"patch": text, **more})


@when("a tool applies the patch")
def apply_patch(context: Context) -> None:
    patch(context, context.text)


@given("the patch was applied before")
def applied_patch(context: Context) -> None:
    patch(context, context.text)


@when("the tool applies it again")
def apply_again(context: Context) -> None:
    patch(context, context.patch)


@when("a tool applies the patch without dropping directories")
def apply_unstripped(context: Context) -> None:
    patch(context, context.text, strip=0)


@when("a tool applies the patch with CRLF line ends")
def apply_crlf(context: Context) -> None:
    patch(context, context.text.replace("\n", "\r\n") + "\r\n")


@when("a tool applies a patch of")
def apply_lines(context: Context) -> None:
    patch(context, "".join(f"{row[0]}\n" for row in table_rows(context.table)))


@when('a tool applies the text "{text}" as a patch')
def apply_text(context: Context, text: str) -> None:
    patch(context, plain(text))


@when('a tool applies the text "" as a patch')
def apply_nothing(context: Context) -> None:
    patch(context, "")


@when("a tool applies the patch within {seconds:d} second")
def apply_in_time(context: Context, seconds: int) -> None:
    spec = replace(APPLY_PATCH, timeout=seconds)
    bench_of(context).run_spec(spec, {"patch": context.text})


@when("a tool applies a patch to {first} and {second} that makes a file too large for the disk")
def apply_too_much(context: Context, first: str, second: str) -> None:
    lines = [f"--- a/{first}", f"+++ b/{first}", "@@ -1 +1 @@", "-one", "+1"]
    lines += [f"--- a/{second}", "+++ /dev/null", "@@ -1 +0,0 @@", "-old"]
    lines += ["--- /dev/null", "+++ b/new/dir/large", "@@ -0,0 +1 @@", "+" + "x" * 100_000]
    with full_disk():
        patch(context, "\n".join(lines))


@given("the sandbox is in a repository that converts files and runs programs")
def hostile_repository(context: Context) -> None:
    surround_with_hostile_repository(bench_of(context))


@given("a program called git that never ends")
def endless_git(context: Context) -> None:
    bench = bench_of(context)
    program = context.world.directory / "bin" / "git"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    bench.environment["PATH"] = f"{program.parent}:{bench.environment['PATH']}"


@then('the hint of the tool is "{hint}"')
def hint_is(context: Context, hint: str) -> None:
    assert bench_of(context).failure.hint == hint, bench_of(context).failure.hint


@given("a sandbox with names that no line can hold")
def odd_names(context: Context) -> None:
    for name in (" ", '"q"\n'):
        bench_of(context).make("file", f"odd/{name}", "")


@given("the directory {path} will be gone when its turn comes")
def vanishing(context: Context, path: str) -> None:
    context.add_cleanup(vanish_after_first_look(bench_of(context).file(path)))


@when("a search for `{pattern}` has {seconds:d} second")
def short_search(context: Context, pattern: str, seconds: int) -> None:
    spec = replace(SEARCH_FILES, timeout=seconds)
    bench_of(context).run_spec(spec, {"pattern": pattern})


@then("the output says that of line 1 only the beginning is shown")
def long_line(context: Context) -> None:
    found = bench_of(context).output
    first, _, rest = found.partition("\n")
    assert first == "a.py:1: " + "x" * 500 + "…", first
    assert rest == "[there are more than 1: narrow the search, or raise `limit`]\n", rest
