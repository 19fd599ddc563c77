"""A rollback that is halted in the middle, and what a plan's list of checkpoints says."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

from robot.api.deco import keyword, library
from robot.libraries.BuiltIn import BuiltIn

WAIT_SECONDS = 1200


@library(scope="TEST", auto_keywords=False)
class RollbackAtWork:
    """Stops the command that was started, as a machine that is short of everything does."""

    @property
    def cli(self) -> Any:
        return BuiltIn().get_library_instance("AgentsCli")

    @keyword("The Rollback Is Halted While It Removes Files From")
    def halted(self, directory: str) -> None:
        """Waits for the first file to be gone; the process still lives when it is halted."""
        run = self.cli._run_under_way()
        place = Path(self.cli.sandbox, directory)
        whole = _entries(place)
        deadline = time.monotonic() + WAIT_SECONDS
        while _entries(place) == whole:
            assert time.monotonic() < deadline and run.poll() is None, "nothing was removed"
        run.send_signal(signal.SIGSTOP)
        left = _entries(place)
        assert 0 < left < whole, f"{left} of {whole} are left: it was too fast"

    @keyword("The Rollback Goes On")
    def goes_on(self) -> None:
        self.cli._run_under_way().send_signal(signal.SIGCONT)

    @keyword("The Labels Of ${plan} Are")
    def labels_are(self, plan: str, *expected: str) -> None:
        found = [item["label"] for item in self.cli._checkpoints(plan)]
        assert found == list(expected), found


def _entries(place: Path) -> int:
    return sum(1 for _ in place.iterdir()) if place.exists() else 0
