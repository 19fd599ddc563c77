"""`agents completion`: print a script that lets a shell complete `agents`."""

from __future__ import annotations

import click

from cleveragents.cli import frame
from cleveragents.reports.report import Report, Text

SHELLS = ("bash", "zsh", "fish")


@frame.command(
    "completion",
    help="Print a shell completion script",
    epilog="Examples:\n  agents completion bash > ~/.local/share/bash-completion/completions/agents"
    "\n  agents completion fish > ~/.config/fish/completions/agents.fish",
)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> Report:
    from click.shell_completion import BashComplete, FishComplete, ZshComplete

    from cleveragents.cli.main import COMPLETION_VARIABLE, root

    kinds = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
    script = kinds[shell](root, {}, "agents", COMPLETION_VARIABLE).source()
    return Report({"shell": shell, "script": script}, (Text(f"Completion for {shell}", script),))
