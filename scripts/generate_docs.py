"""Writes the reference pages that follow from the code; `--check` only says which are out of date.

A page is a function without arguments that returns Markdown, entered in `PAGES`. The stored help
of `agents` is written here too.
Imports are in the functions, so that a page can be made while another part is broken.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from cleveragents.cli.start import HELP_WIDTHS, help_file

if TYPE_CHECKING:
    from click import Context, Parameter

DOCS = Path(__file__).parent.parent / "docs"
NOTE = "<!-- Written by scripts/generate_docs.py; change the code, not this page. -->"

EXIT_CODES = {
    0: "Done.",
    1: "Failed.",
    2: "The command was called in a way that cannot work, or needs confirmation.",
    3: "Done, but something was skipped; the output says what and why.",
    4: "Refused by a guard; nothing was changed.",
    5: "What was named does not exist.",
    6: "Busy or in conflict: another holds it or has changed it. Trying again may help.",
    7: "A stored snapshot is missing or damaged.",
    8: "A step of the plan failed; the plan's state says what was rolled back.",
    10: "A setting is unknown or has an invalid value.",
    70: "A bug in this program. Please report it.",
    130: "Interrupted.",
}


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    def line(cells: tuple[str, ...]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return "\n".join([line(head), line(("---",) * len(head)), *map(line, rows)])


def page(title: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", NOTE, *parts]) + "\n"


def errors() -> str:
    from cleveragents.domain.errors import CleverAgentsError

    def family(kind: type[CleverAgentsError], depth: int) -> Iterator[tuple[str, ...]]:
        meaning = (kind.__doc__ or "").strip().splitlines()[0]
        retryable = "yes" if kind.retryable else "no"
        name = "&nbsp;" * 4 * depth + f"`{kind.__name__}`"
        yield name, f"`{kind.code}`", str(kind.exit_code), retryable, meaning
        for child in kind.__subclasses__():
            yield from family(child, depth + 1)

    return page(
        "Errors",
        "Every error of the program is one of these classes.\n"
        "The code is what `--format json` prints as `error.code`; it never changes its meaning.\n"
        "An error that is retryable may go away by itself.",
        table(
            ("Class", "Code", "Exit code", "Retryable", "Meaning"),
            list(family(CleverAgentsError, 0)),
        ),
    )


def exit_codes() -> str:
    from cleveragents.domain.errors import CleverAgentsError

    def family(kind: type[CleverAgentsError]) -> Iterator[type[CleverAgentsError]]:
        yield kind
        for child in kind.__subclasses__():
            yield from family(child)

    unknown = {kind.exit_code for kind in family(CleverAgentsError)} - EXIT_CODES.keys()
    if unknown:
        raise SystemExit(f"EXIT_CODES in {__file__} does not explain {sorted(unknown)}")
    return page(
        "Exit codes",
        "Codes may be added, so treat every code that is not 0 and not listed here as a failure.",
        table(("Code", "Meaning"), [(str(code), text) for code, text in EXIT_CODES.items()]),
        "The [errors](errors.md) that end with each code have a finer code of their own.",
    )


def plan_states() -> str:
    from cleveragents.domain.plans.plan import TRANSITIONS

    def node(phase: str, state: str) -> str:
        return f"{phase}_{state}"

    ends = [*(key[:2] for key in TRANSITIONS), *TRANSITIONS.values()]
    nodes = list(dict.fromkeys(ends))
    names = [f'    state "{phase}/{state}" as {node(phase, state)}' for phase, state in nodes]
    arrows = [
        f"    {node(phase, state)} --> {node(*target)}: {event}"
        for (phase, state, event), target in TRANSITIONS.items()
    ]
    first = f"    [*] --> {node(*nodes[0])}"
    diagram = "\n".join(["```mermaid", "stateDiagram-v2", *names, first, *arrows, "```"])
    return page(
        "The states of a plan",
        "A plan is always in one phase and, within it, in one state.\n"
        "Only the events drawn here move it; anything else is refused and changes nothing.",
        diagram,
        table(
            ("Phase and state", "Event", "Becomes"),
            [
                (f"{phase}/{state}", str(event), "/".join(target))
                for (phase, state, event), target in TRANSITIONS.items()
            ],
        ),
    )


def configuration() -> str:
    from cleveragents.domain.settings.registry import REGISTRY, Level

    def section(key: Any) -> str:
        shown = key.shown(key.default)
        default = "unset" if shown is None else f"`{json.dumps(shown)}`"
        rows = [
            ("Type", key.type),
            ("Default", default),
            ("Allowed", ", ".join(f"`{value}`" for value in key.allowed)),
            ("Environment", f"`{key.environment}`"),
            ("A project may set it", "yes" if key.project_scopable else "no"),
            ("Also called", ", ".join(f"`{name}`" for name in key.aliases)),
            ("Formerly", ", ".join(f"`{name}`" for name in key.deprecated)),
        ]
        kept = [row for row in rows if row[1]]
        return f"## `{key.name}`\n\n{key.description}.\n\n{table(('', ''), kept)}"

    return page(
        "Configuration",
        f"A setting has the value of the highest level that gives one: {' > '.join(Level)}.\n"
        "The project's file is `.cleveragents/config.toml` in the project, "
        "the global one is `config.toml` in the home directory.\n"
        "`agents config get KEY --verbose` shows the chain.",
        *(section(key) for key in sorted(REGISTRY, key=lambda key: key.name)),
    )


def command_line() -> str:
    from click import Command, Context, Group

    from cleveragents.cli.main import root

    def section(command: Command, ctx: Context) -> Iterator[str]:
        usage = " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)])
        yield f"## `{ctx.command_path}`" if ctx.parent else "## Options of every command"
        yield (command.help or "").split("\f")[0].strip()
        yield f"```text\n{usage}\n```"
        options = [param for param in command.params if not shared(param, ctx)]
        if options:
            yield table(("Option", "Meaning"), [option_row(param, ctx) for param in options])
        if command.epilog and ctx.parent:
            yield f"```text\n{command.epilog.strip()}\n```"
        if isinstance(command, Group):
            for name in command.list_commands(ctx):
                child = command.get_command(ctx, name)
                if child and not child.hidden:
                    yield from section(child, Context(child, parent=ctx, info_name=name))

    root_options = {tuple(param.opts) for param in root.params}

    def shared(param: Parameter, ctx: Context) -> bool:
        return ctx.parent is not None and tuple(param.opts) in root_options

    return page("Command line", *section(root, Context(root, info_name="agents")))


def events() -> str:
    from msgspec.structs import fields

    from cleveragents.application import events as progress
    from cleveragents.domain.plans.events import EVENT_TYPES

    def row(kind: Any) -> tuple[str, ...]:
        facts = [f"`{field.name}`" for field in fields(kind) if field.name != "plan_id"]
        return f"`{kind.type}`", (kind.__doc__ or "").strip().splitlines()[0], ", ".join(facts)

    head = ("Type", "Meaning", "`data`")
    return page(
        "Events",
        "What happens to a plan is stored together with the records it follows from.\n"
        "`agents plan log` shows it, and `--progress json` prints it while it happens.\n"
        "Types and fields are added, never renamed or removed.",
        table(head, [row(kind) for kind in EVENT_TYPES.values()]),
        "Indexes of steps count from 0.\n"
        "A group of checkpoints, which is one moment, is one event; "
        "`resources` are those that have a checkpoint in it.\n"
        "`operation_id` of `checkpoint.restored` is null when a run restored its sandboxes by "
        "itself, after a failure or before continuing.",
        "## Progress",
        "`--progress json` prints these; they are not stored.",
        table(head, [row(kind) for kind in get_args(progress.Progress)]),
    )


def option_row(param: Parameter, ctx: Context) -> tuple[str, ...]:
    """One row of an options table; an argument has its name, an option all its spellings."""
    from click import Choice, Option

    if not isinstance(param, Option):
        name = param.make_metavar(ctx)
        return f"`{name}`", "optional" if not param.required else "required"
    spelled = ", ".join([*param.opts, *param.secondary_opts])
    metavar = "" if param.is_flag else f" {param.make_metavar(ctx)}"
    if isinstance(param.type, Choice):
        metavar = f" {'|'.join(param.type.choices)}"
    return f"`{spelled}{metavar}`", param.help or ""


def help_of_agents(width: int) -> str:
    """What Click prints for `agents --help` on a screen of that width."""
    # In a process of its own: Click keeps the help option of the first context that asks for it.
    program = "from cleveragents.cli.main import main; main(['--help'])"
    environment = os.environ | {"COLUMNS": str(width)}
    return subprocess.check_output([sys.executable, "-c", program], env=environment, text=True)


PAGES: dict[str, Callable[[], str]] = {
    "concepts/plan-states.md": plan_states,
    "reference/configuration.md": configuration,
    "reference/errors.md": errors,
    "reference/events.md": events,
    "reference/exit-codes.md": exit_codes,
    "reference/cli.md": command_line,
    **{
        os.path.relpath(help_file(width), DOCS): partial(help_of_agents, width)
        for width in HELP_WIDTHS
    },
}


def main() -> int:
    check = "--check" in sys.argv[1:]
    stale: list[str] = []
    for name, make in PAGES.items():
        file, text = DOCS / name, make()
        if file.exists() and file.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not check:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    if stale:
        print("Out of date:" if check else "Written:", *stale)
    if stale and check:
        print("Run `python scripts/generate_docs.py` and commit what it wrote")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
