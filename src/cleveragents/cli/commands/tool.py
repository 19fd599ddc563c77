"""`agents tool`: the available tools, and what each declares."""

from __future__ import annotations

import click

from cleveragents.cli import frame
from cleveragents.cli.session import Session
from cleveragents.reports.report import Report

tool = frame.group(
    "tool",
    help="Show the tools that plans can use",
    epilog="Example:\n  agents tool show edit-file",
    lazy={},
)


def _complete_name(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from cleveragents.infrastructure.tools.registry import BUILTIN_NAMES

    return sorted(name for name in BUILTIN_NAMES if name.startswith(incomplete))


@tool.command(
    "list",
    help="List the tools and where each comes from",
    epilog="Example:\n  agents tool list --format json",
)
@frame.pass_session
def list_(session: Session) -> Report:
    from cleveragents.reports.installation.tools import tool_list

    return tool_list(*session.container(None).tools().all())


@tool.command(
    "show",
    help="Show what a tool declares, and its inputs",
    epilog="Example:\n  agents tool show apply-patch",
)
@click.argument("name", metavar="NAME", shell_complete=_complete_name)
@frame.pass_session
def show(session: Session, name: str) -> Report:
    from cleveragents.reports.installation.tools import tool_details

    return tool_details(session.container(None).tools().known(name))
