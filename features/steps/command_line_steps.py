from __future__ import annotations

import json
import re
import shlex
import stat
from pathlib import Path
from unittest.mock import patch

import yaml
from behave import given, then, when
from behave.runner import Context
from features.support.help import every_help
from features.support.sample import samples


def run(context: Context, command: str, **streams: str) -> None:
    """Runs what the user typed; the sample commands exist in this process only."""
    program, *arguments = shlex.split(command)
    assert program == "agents", command
    if "sample" not in arguments:
        context.world.agents(*arguments, **streams)
        return
    with samples():
        context.world.agents_here(*arguments, **streams)


@given('the variable {name} is "{value}"')
def set_variable(context: Context, name: str, value: str) -> None:
    context.world.environment[name] = value


@given("the variable {name} is empty")
def empty_variable(context: Context, name: str) -> None:
    context.world.environment[name] = ""


@given("the user sits before a terminal")
def at_terminal(context: Context) -> None:
    context.world.at_terminal = True


@given("the home directory cannot be written")
def unwritable_home(context: Context) -> None:
    context.world.home.write_text("a file in its place")


@given("the current directory has been removed")
def removed_directory(context: Context) -> None:
    context.world.runner = "in-process"
    gone = patch.object(Path, "cwd", side_effect=FileNotFoundError)
    gone.start()
    context.add_cleanup(gone.stop)


@given("there is no home directory at all")
def no_home(context: Context) -> None:
    context.world.environment["CLEVERAGENTS_HOME"] = "~nobody-of-this-name"


@when('the user runs "{command}"')
def run_command(context: Context, command: str) -> None:
    run(context, command)


@when('the user answers "{answer}" to "{command}"')
def run_and_answer(context: Context, answer: str, command: str) -> None:
    run(context, command, stdin=f"{answer}\n")


@when('nobody reads the output of "{command}"')
def run_for_nobody(context: Context, command: str) -> None:
    with context.world.gone_reader() as writer:
        context.world.process_agents(*shlex.split(command)[1:], stdout=writer)


@when('the output of "{command}" goes to a full disk')
def run_on_full_disk(context: Context, command: str) -> None:
    with Path("/dev/full").open("wb") as full:
        context.world.process_agents(*shlex.split(command)[1:], stdout=full)


@when('the output of "{command}" is closed')
def run_closed(context: Context, command: str) -> None:
    context.world.process_agents(*shlex.split(command)[1:], script='exec "$@" >&-')


@when('the shell asks how to complete "{words}"')
def complete(context: Context, words: str) -> None:
    asked = {
        "_AGENTS_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(shlex.split(words)) - (0 if words.endswith(" ") else 1)),
    }
    context.world.agents_here(env=asked)


@when('a program imports what "{command}" needs')
def import_for(context: Context, command: str) -> None:
    arguments = shlex.split(command)[1:]
    context.world.python(
        "import sys\n"
        "opened = []\n"
        "sys.addaudithook(lambda name, _: name == 'sqlite3.connect' and opened.append(name))\n"
        "from cleveragents.cli.start import main\n"
        f"sys.argv[1:] = {arguments!r}\n"
        "code = main()\n"
        "print('opened:', len(opened))\n"
        "print('loaded:', *sorted(sys.modules))\n"
        "sys.exit(code)\n"
    )


@when("a program prints the help with and without Click")
def print_help_twice(context: Context) -> None:
    context.world.python(
        "import sys\n"
        "from cleveragents.cli import main, start\n"
        "sys.argv[1:] = ['--help']\n"
        "start.main()\n"
        "print('-----')\n"
        "main.main()\n"
    )


@then("both are the same")
def same_help(context: Context) -> None:
    ours, by_click = context.world.last.stdout.split("-----\n")
    assert ours == by_click and "--version" in ours, (ours, by_click)


@then("the database was opened once")
def opened_once(context: Context) -> None:
    assert "opened: 1" in context.world.last.stdout.splitlines(), context.world.last


@then("neither {packages} of the infrastructure were loaded")
def packages_not_loaded(context: Context, packages: str) -> None:
    names = [f"cleveragents.infrastructure.{name}" for name in packages.split(" nor ")]
    not_loaded(context, " nor ".join(names))


@when("somebody reads the help of every command")
def read_all_help(context: Context) -> None:
    context.commands = dict(every_help(context.world))


@then("no line of any help has more than {columns:d} columns")
def help_fits(context: Context, columns: int) -> None:
    lines = [line for text in context.commands.values() for line in text.splitlines()]
    assert not [line for line in lines if len(line) > columns]


@then("each shows how to use it, with an example that names it")
def examples(context: Context) -> None:
    without = [name for name, text in context.commands.items() if f"\n  {name}" not in text]
    assert not without, without


@then("the exit code is {code:d}")
def exit_code(context: Context, code: int) -> None:
    outcome = context.world.last
    assert outcome.exit_code == code, outcome


@then('the output says "{text}"')
def output_says(context: Context, text: str) -> None:
    assert text in context.world.last.stdout, context.world.last


@then('the output does not say "{text}"')
def output_does_not_say(context: Context, text: str) -> None:
    assert text not in context.world.last.stdout, context.world.last


@then("the output is")
def output_is(context: Context) -> None:
    said = "\n".join(line.rstrip() for line in context.world.last.stdout.splitlines())
    assert said == context.text, said


@then("the output is empty")
def output_is_empty(context: Context) -> None:
    assert context.world.last.stdout == "", context.world.last


@then('the error output says "{text}"')
def error_says(context: Context, text: str) -> None:
    # On a terminal, long sentences are wrapped between words.
    said = context.world.last.stderr
    assert text in said or text in " ".join(said.split()), context.world.last


@then("the error output is empty")
def error_is_empty(context: Context) -> None:
    assert context.world.last.stderr == "", context.world.last


@then("the error output is")
def error_is(context: Context) -> None:
    assert context.world.last.stderr.strip() == context.text, context.world.last


@then("the {notation} document has")
def document_has(context: Context, notation: str) -> None:
    load = {"JSON": json.loads, "YAML": yaml.safe_load}[notation]
    document = load(context.world.last.stdout)
    for row in context.table or ():
        value = document
        for name in row["field"].split("."):
            value = value[name]
        assert value == json.loads(row["value"]), (row["field"], value)


@then("every time in the document is in UTC with six decimals")
def times_are_alike(context: Context) -> None:
    times = re.findall(r'"(\d{4}-\d\d-\d\dT[^"]*)"', context.world.last.stdout)
    odd = [each for each in times if not re.fullmatch(r"[\d-]{10}T[\d:]{8}\.\d{6}Z", each)]
    assert len(times) > 1 and not odd, (times, odd)


@then("neither {libraries} was loaded")
def not_loaded(context: Context, libraries: str) -> None:
    *_, loaded = context.world.last.stdout.splitlines()
    found = set(libraries.replace(" nor ", " ").split()) & set(loaded.split())
    assert loaded.startswith("loaded:") and not found, found


@then("the traceback is in a file that only the user can read")
def traceback_kept(context: Context) -> None:
    (log,) = (context.world.home / "logs").iterdir()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert stat.S_IMODE(context.world.home.stat().st_mode) == 0o700
    assert "ZeroDivisionError: division by zero" in log.read_text()
    assert str(log) in context.world.last.stderr, context.world.last


@then("no name in the output can steer a terminal")
def harmless(context: Context) -> None:
    colors = re.compile(r"\x1b\[[0-9;]*m")
    said = colors.sub("", context.world.last.stdout)
    assert not set(said) & set("\x1b\r\u202e\u2028"), said


@then("the output is ASCII")
def ascii_only(context: Context) -> None:
    assert context.world.last.stdout.isascii(), context.world.last


@then("the output is coloured")
def coloured(context: Context) -> None:
    assert "\x1b[" in context.world.last.stdout, context.world.last


@then("the output is colourless")
def colourless(context: Context) -> None:
    assert "\x1b" not in context.world.last.stdout, context.world.last


@then("the error output is coloured")
def error_coloured(context: Context) -> None:
    assert "\x1b[31mError:\x1b[0m" in context.world.last.stderr, context.world.last
