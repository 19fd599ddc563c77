"""A home directory that an earlier version left behind, used by the installed command."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from features.support.situations import earlier_home
from features.support.world import Outcome
from robot.api.deco import keyword, library
from robot.libraries.BuiltIn import BuiltIn

LISTS = ("list", "checkpoints", "verify")


@library(scope="TEST", auto_keywords=False)
class EarlierHome:
    """Unpacks the archive, does what that version did, and compares the results."""

    def __init__(self) -> None:
        self._home: earlier_home.EarlierHome | None = None
        self._expected: dict[str, Any] = {}

    @keyword("The Home Directory Of Version 0.1.0 Is Unpacked")
    def unpack(self) -> None:
        agents: Any = BuiltIn().get_library_instance("AgentsCli")
        base = agents.place / "earlier"
        base.mkdir()
        self._expected = earlier_home.unpack(earlier_home.ARCHIVE, base)
        run = _installed(agents, base)
        self._home = earlier_home.EarlierHome(base, self._expected["plans"], run)

    @property
    def home(self) -> earlier_home.EarlierHome:
        if self._home is None:
            raise AssertionError("No home directory has been unpacked")
        return self._home

    @keyword("The Plans And The Checkpoints Are Listed As Before")
    def lists_are_the_same(self, plan: str) -> None:
        for name in LISTS:
            _compare(self._expected["reports"][plan][name], self.home.report(name, plan))

    @keyword("The Oldest Checkpoint Restores What It Restored Before")
    def rollback_is_the_same(self, plan: str) -> None:
        checkpoint_id, before = list(self._expected["rollbacks"][plan].items())[-1]
        # The state hashes depend on the rollbacks that were made before this one.
        before = {name: before[name] for name in ("exit_code", "sandboxes")}
        _compare(before, self.home.roll_back(plan, checkpoint_id))

    @keyword("It Ends As Before When The User")
    def action_is_the_same(self, action: str) -> None:
        expected = self._expected["actions"][action] | earlier_home.FIXED.get(action, {})
        _compare(expected, self.home.act(action))


def _installed(agents: Any, base: Path) -> Callable[..., Outcome]:
    """Runs the installed command in the unpacked project, with the unpacked home directory."""
    environment = agents.environment | {
        "HOME": str(base),
        "CLEVERAGENTS_HOME": str(base / "home"),
    }

    def run(*arguments: str) -> Outcome:
        done = subprocess.run(
            [agents.command, *arguments],
            cwd=base / "project",
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


def _compare(before: Any, now: Any) -> None:
    if different := earlier_home.lost(before, now):
        raise AssertionError("\n".join(different))
