from __future__ import annotations

import io
import json
import re
import shlex

from behave import given, then, when
from behave.runner import Context
from features.support.clocks import wait_until
from features.support.plans import data, plans

from cleveragents.cli.spinner import Spinner
from cleveragents.infrastructure.tools.process.output import BoundedOutput


@given("the plan could not be applied")
def not_applied(context: Context) -> None:
    outcome = context.world.agents("plan", "apply", plans(context).plan_id, "--yes")
    assert outcome.exit_code == 4, outcome


@given("the plan was made but not run")
def only_made(context: Context) -> None:
    outcome = context.world.agents("plan", "use", str(plans(context).file))
    assert outcome.exit_code == 0, outcome


@when('the user runs "{command}" on the plan')
def run_on_plan(context: Context, command: str) -> None:
    _, *arguments = shlex.split(plans(context).filled(command))
    context.world.agents(*arguments)


@when('the user runs the plan with "{options}"')
def run_plan_with(context: Context, options: str) -> None:
    context.world.agents("plan", "run", str(plans(context).file), *shlex.split(options))


@then("the first output has the streams")
def streams(context: Context) -> None:
    found = [(item["stream"], item["text"]) for item in data(context)["outputs"][0]["streams"]]
    expected = [(row["stream"], row["text"].replace("\\n", "\n")) for row in context.table]
    assert found == expected, found


@then('the error output does not say "{text}"')
def error_does_not_say(context: Context, text: str) -> None:
    assert text not in context.world.last.stderr, context.world.last


@then("a line of the error output is an event with")
def event_lines(context: Context) -> None:
    events = [json.loads(line) for line in context.world.last.stderr.splitlines()]
    found = [(it["type"], it["data"].get("text"), it["data"].get("stderr")) for it in events]
    for row in context.table:
        text = row["text"].replace("\\n", "\n")
        assert (row["type"], text, json.loads(row["stderr"])) in found, found


@when("a program prints {pieces}")
def print_pieces(context: Context, pieces: str) -> None:
    context.output = BoundedOutput()
    for piece in pieces.split(", "):
        stream, _, text = piece.partition(":")
        raw = text.encode("latin-1").decode("unicode_escape").encode("latin-1")
        context.output.feed(raw, stderr=stream == "err")


@when("300 KB are printed to each stream in turn, a byte at a time")
def print_much(context: Context) -> None:
    context.output = BoundedOutput()
    for _ in range(300 * 1024):
        context.output.feed(b"o")
        context.output.feed(b"e", stderr=True)


@then("the kept output is {text}")
def kept(context: Context, text: str) -> None:
    expected = text.replace("\\ufffd", "\ufffd")
    assert context.output.text() == expected, context.output.text()


@then("{marked} came from standard error")
def marked_part(context: Context, marked: str) -> None:
    text = context.output.text()
    found = "".join(text[start:end] for start, end in context.output.stderr())
    assert found == ("" if marked == "nothing" else marked), found


@then("the kept output says how much was left out")
def left_out(context: Context) -> None:
    (count,) = re.findall(r"\[(\d+) bytes left out\]", context.output.text())
    assert int(count) == (600 - 64 - 192) * 1024, count
    assert context.output.is_truncated


@then("the marked parts are exactly those of standard error")
def exactly_marked(context: Context) -> None:
    text, ranges = context.output.text(), context.output.stderr()
    marked = [text[start:end] for start, end in ranges]
    assert set("".join(marked)) == {"e"}, marked[:5]
    assert len(marked) == text.replace("bytes left", "").count("e"), len(marked)


@when("a spinner has turned at least once and is stopped")
def spin(context: Context) -> None:
    context.stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    spinner = Spinner(context.stream)
    spinner.start()
    wait_until(lambda: b" s" in context.stream.buffer.getvalue())
    spinner.stop()
    spinner.stop()


@then("the last thing it wrote clears its line")
def cleared(context: Context) -> None:
    written = context.stream.buffer.getvalue()
    assert written.endswith(b"\r\x1b[K"), written
