from __future__ import annotations

import json
from functools import partial
from unittest.mock import patch

from behave import given, then, when
from behave.runner import Context
from features.support.clocks import StoppedClock, has_content
from features.support.commands import spelled_out
from features.support.tools import (
    SECRET,
    Workbench,
    ended_group,
    ended_while_ending,
    full_disk,
    raises_validation_error,
    without_proc,
)
from features.support.values import plain, row_values, table_rows
from msgspec.structs import replace

from cleveragents.domain.tools.tool import ToolSpec
from cleveragents.infrastructure.tools.process import run as process_run
from cleveragents.infrastructure.tools.process.shell import SHELL


def bench(context: Context) -> Workbench:
    if "bench" not in context:
        context.bench = Workbench(context.world.directory, context.world.environment)
    return context.bench


@given("a sandbox with")
def sandbox_with(context: Context) -> None:
    for kind, path, content in table_rows(context.table):
        bench(context).make(kind, path, content)


@given("the file {path} has the mode {mode}")
def file_mode(context: Context, path: str, mode: str) -> None:
    bench(context).file(path).chmod(int(mode, 8))


@given("the file {path} has another name outside the sandbox")
def hard_link(context: Context, path: str) -> None:
    (bench(context).outside / "link.txt").hardlink_to(bench(context).file(path))


@given("the file {path} has {size:d} bytes")
def large_file(context: Context, path: str, size: int) -> None:
    bench(context).file(path).write_text("x" * size)


@given("git's variables point at another repository")
def git_variables(context: Context) -> None:
    bench(context).environment |= {"GIT_DIR": "/elsewhere", "GIT_INDEX_FILE": "/elsewhere/index"}


@given('the tool runs for the plan "{plan_id}"')
def plan_of_tool(context: Context, plan_id: str) -> None:
    bench(context).plan_id = plan_id


@given("the sandbox has been deleted")
def deleted_sandbox(context: Context) -> None:
    bench(context).sandbox.rmdir()


@when('a tool writes {path} with "{content}"')
def write(context: Context, path: str, content: str) -> None:
    bench(context).run("write-file", {"path": plain(path), "content": plain(content)})


@when('a tool writes {path} with "{content}" and the mode {mode}')
def write_mode(context: Context, path: str, content: str, mode: str) -> None:
    bench(context).run("write-file", {"path": path, "content": plain(content), "mode": mode})


@when("a tool writes a name of {length:d} characters")
def write_long_name(context: Context, length: int) -> None:
    bench(context).run("write-file", {"path": "x" * length, "content": ""})


@when("a tool writes more than the disk takes to {path}")
def write_too_much(context: Context, path: str) -> None:
    with full_disk():
        bench(context).run("write-file", {"path": path, "content": "x" * 100_000})


@when("a tool is declared that only reads and that writes")
def declare_both(context: Context) -> None:
    with raises_validation_error() as context.refused:
        ToolSpec(name="both", read_only=True, writes=True)


@when("a tool reads {path}")
def read(context: Context, path: str) -> None:
    bench(context).run("read-file", {"path": plain(path)})


@when("a tool deletes {path}")
def delete(context: Context, path: str) -> None:
    bench(context).run("delete-file", {"path": plain(path)})


@when("a tool recursively deletes {path}")
def delete_tree(context: Context, path: str) -> None:
    bench(context).run("delete-file", {"path": path, "recursive": True})


@when("the command `{command}` runs")
def run_shell(context: Context, command: str) -> None:
    bench(context).run("shell", {"command": spelled_out(command)})


@given("the command `{command}` has run")
def has_run_shell(context: Context, command: str) -> None:
    bench(context).run("shell", {"command": command})


@when("the command `{command}` runs while memory is watched")
def run_shell_watched(context: Context, command: str) -> None:
    bench(context).run_watched(command)


@when("the command `{command}` runs until its time is up, 1 second")
def run_shell_timeout(context: Context, command: str) -> None:
    written = partial(has_content, bench(context).file("pid.txt"))
    with patch.object(process_run, "time", StoppedClock(written)):
        bench(context).run("shell", {"command": spelled_out(command), "timeout": 1})


@when("the command `{command}` is interrupted")
def interrupt_shell(context: Context, command: str) -> None:
    bench(context).interrupt(command)


@when("a tool of the plan runs `{command}` with")
def run_plan_tool(context: Context, command: str) -> None:
    values = {name: plain(value) for name, value in row_values(context.table).items()}
    bench(context).run_plan_tool(command, dict(values))


@when("a tool runs that nobody has")
def run_unknown_tool(context: Context) -> None:
    spec = replace(SHELL, name="teleport")
    bench(context).run_spec(spec, {"command": "true"})


@when("the tool `{tool}` runs with `{given_input}`")
def run_tool(context: Context, tool: str, given_input: str) -> None:
    bench(context).run(tool, json.loads(given_input))


@when("a session is ended on a system without a process table")
def end_without_proc(context: Context) -> None:
    end, context.child = ended_group()
    with without_proc():
        context.ended = (end(), end())


@then('the file {path} holds "{content}"')
def holds(context: Context, path: str, content: str) -> None:
    found = bench(context).file(path).read_bytes().decode()
    assert found == plain(content), found


@then("the mode of {path} is {mode}")
def mode_is(context: Context, path: str, mode: str) -> None:
    assert bench(context).mode(path) == mode, bench(context).mode(path)


@then("the sandbox has only")
def only(context: Context) -> None:
    root = bench(context).sandbox
    found = sorted(str(path.relative_to(root)) for path in root.rglob("*"))
    assert found == sorted(row[0] for row in table_rows(context.table)), found


@then('the output is "{output}"')
def output_is(context: Context, output: str) -> None:
    found = bench(context).output
    assert found == str(bench(context).placed(plain(output))), found


@then("the output is cut, and says that {count:d} bytes were left out")
def output_cut(context: Context, count: int) -> None:
    output, result = bench(context).output, bench(context).result
    assert result is not None and result.truncated
    assert f"\n[{count} bytes left out]\n" in output, output[65500:65600]
    assert len(output) < 300_000, len(output)


@then("the tool fails because {reason}")
def fails(context: Context, reason: str) -> None:
    found = bench(context).failure.message
    assert found == str(bench(context).placed(plain(reason))), found


@then('the tool fails with a message that has "{text}"')
def fails_with(context: Context, text: str) -> None:
    found = bench(context).failure.message
    assert text in found, found


@then("the tool took too long and was ended")
def took_too_long(context: Context) -> None:
    assert " seconds and was stopped" in bench(context).failure.message


@then("the message of the failure has less than {count:d} characters")
def short_message(context: Context, count: int) -> None:
    assert len(bench(context).failure.message) < count, len(bench(context).failure.message)


@then("at most {count:d} megabytes were needed for it")
def little_memory(context: Context, count: int) -> None:
    assert bench(context).memory <= count * 1_000_000, bench(context).memory


@then("nothing of the tool is found in the process table")
def nothing_found(context: Context) -> None:
    assert not bench(context).marked(), bench(context).marked()


@then("the name is refused by the file system")
def fails_for_name(context: Context) -> None:
    assert bench(context).failure.message.endswith("`: File name too long")


@then("the failure keeps the status {status:d} and the whole output")
def failure_details(context: Context, status: int) -> None:
    details = bench(context).failure.details
    assert details["status"] == status, details
    assert str(details["output"]).splitlines()[0] == "1", details


@then("the declaration is refused")
def declaration_refused(context: Context) -> None:
    assert "cannot be both `read_only` and `writes`" in context.refused[0], context.refused


@then("nothing inside or outside the sandbox has changed")
def unchanged(context: Context) -> None:
    assert bench(context).tree() == bench(context).before


@then("nothing outside the sandbox has changed")
def outside_unchanged(context: Context) -> None:
    assert (bench(context).outside / "secret.txt").read_text() == SECRET


@then('its other name still holds "{content}"')
def other_name(context: Context, content: str) -> None:
    assert (bench(context).outside / "link.txt").read_text() == plain(content)


@then("none of its processes is left")
def none_left(context: Context) -> None:
    assert not bench(context).alive()


@when("the processes of a session are looked for while one ends")
def look_while_ending(context: Context) -> None:
    context.found = ended_while_ending(context.world.directory)


@then("none is found")
def none_found(context: Context) -> None:
    assert context.found == 0, context.found


@then("the session's processes are gone")
def session_gone(context: Context) -> None:
    assert context.ended == (1, 0), context.ended


@given("the sandbox has been moved away")
def moved_sandbox(context: Context) -> None:
    bench(context).sandbox.rename(bench(context).sandbox.with_name("moved"))
