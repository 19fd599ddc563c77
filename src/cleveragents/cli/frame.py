"""How commands are declared: lazily loaded groups, and functions that return a `Report`.

Every group and command accepts the global options, so they can be given before or after the
name of the command; the last one wins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import click

from cleveragents.cli.session import COLORS, Session
from cleveragents.cli.terminal import filled
from cleveragents.domain.settings.formats import OutputFormat
from cleveragents.reports.report import Failure, Report

__all__ = [
    "CommandFailed",
    "Lazy",
    "LazyGroup",
    "Report",
    "ReportCommand",
    "Session",
    "command",
    "group",
    "pass_session",
]

_NARROWEST = 40

pass_session = click.make_pass_decorator(Session)


class CommandFailed(Exception):  # not an error class: it carries the report of one
    """A command failed, and its report has more data than the error."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Lazy(NamedTuple):
    """Where a command is defined, and its line in the list of commands."""

    module: str
    attribute: str
    help: str


class _Framed(click.Command):
    """A command or group that has the global options and prints its epilog verbatim."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.extend(_global_options())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _session(ctx).command = _name(ctx)
        return super().parse_args(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        room = max(formatter.width, _NARROWEST)
        blocks = (self.epilog or "").strip().split("\n\n")
        formatter.write("".join(f"\n{_reflowed(block, room)}\n" for block in blocks))


def _reflowed(block: str, room: int) -> str:
    """Wraps a paragraph to the width of the screen; examples stay as they are."""
    if "\n  " in block:
        return block
    return "\n".join(filled(" ".join(block.split("\n")), room))


class ReportCommand(_Framed):
    """A command whose function returns a `Report`."""

    def __init__(self, *args: Any, fixes_settings: bool = False, **kwargs: Any) -> None:
        """`fixes_settings` lets the command run even if the configuration is invalid."""
        super().__init__(*args, **kwargs)
        self.fixes_settings = fixes_settings

    def invoke(self, ctx: click.Context) -> Report:
        """Settles the format first, so that an invalid setting stops the command early."""
        _session(ctx).settle_format(tolerant=self.fixes_settings)
        return super().invoke(ctx)


class LazyGroup(_Framed, click.Group):
    """A group that imports a command's module when that command is called."""

    command_class = ReportCommand

    def __init__(self, *args: Any, lazy: Mapping[str, Lazy], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Lists commands in the order of their declaration, which is the order of use."""
        return [*self.commands, *self.lazy]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        place = self.lazy.get(cmd_name)
        if place is None:
            return super().get_command(ctx, cmd_name)
        return getattr(import_module(place.module), place.attribute)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        if args[0] in known or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        from difflib import get_close_matches

        nearest = get_close_matches(args[0], known, n=1, cutoff=0.5)
        suggestion = f" Did you mean '{nearest[0]}'?" if nearest else ""
        raise click.UsageError(f"No such command '{args[0]}'.{suggestion}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands without importing them."""
        rows = [(name, command.get_short_help_str(80)) for name, command in self.commands.items()]
        rows += [(name, place.help) for name, place in self.lazy.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def group(name: str, *, help: str, epilog: str, lazy: Mapping[str, Lazy]) -> LazyGroup:
    """Declares a group; commands in its own module are added with `@group.command(...)`."""
    return LazyGroup(name, help=help, epilog=epilog, lazy=lazy)


def command(
    name: str, *, help: str, epilog: str, fixes_settings: bool = False
) -> Callable[[Callable[..., Report]], ReportCommand]:
    """Turns a function that returns a `Report` into a command; the epilog has an example."""
    return click.command(
        name, cls=ReportCommand, help=help, epilog=epilog, fixes_settings=fixes_settings
    )


def _name(ctx: click.Context) -> str:
    """Returns the command as it was typed, without `agents`: `plan checkpoint list`."""
    return ctx.command_path.partition(" ")[2] or ctx.command_path


def _session(ctx: click.Context) -> Session:
    return ctx.obj


def _global_options() -> list[click.Option]:
    return [
        click.Option(
            ["-f", "--format"],
            type=click.Choice([known.value for known in OutputFormat]),
            callback=_remember_format,
            expose_value=False,
            help="Output format; by default rich on a terminal and plain elsewhere.",
        ),
        click.Option(
            ["--color"],
            type=click.Choice(COLORS),
            callback=_remember_color,
            expose_value=False,
            help="When to use colors.",
        ),
        click.Option(
            ["--no-input"],
            is_flag=True,
            callback=_remember_no_input,
            expose_value=False,
            help="Never ask; fail if an answer is needed.",
        ),
    ]


def _remember_format(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        _session(ctx).asked_format = OutputFormat(value)


def _remember_color(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        _session(ctx).asked_color = value


def _remember_no_input(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        _session(ctx).no_input = True
