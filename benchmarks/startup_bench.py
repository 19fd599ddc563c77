"""How long a person waits for a command, beside a bare interpreter, and how much it loads.

    python -m benchmarks.startup_bench [--runs NUMBER]

prints the table, and ends with 1 if a command takes more than its limit: a multiple of
`python -c pass` in the same run, in a home with 1,000 plans and 50,000 checkpoints. What is
compared is the computing time of each process, the least of all runs, so that other work on the
machine counts as little as possible.
"""

from __future__ import annotations

import argparse
import compileall
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import cleveragents
from benchmarks import large_database

LIMITS: Mapping[tuple[str, ...], float] = {
    ("--version",): 3.5,
    ("--help",): 4,
    ("-h",): 4,
    ("plan", "list"): 15,
    ("plan", "list", "--format", "json"): 15,
    ("plan", "status", "@latest"): 15,
    ("plan", "status", "@latest", "--format", "json"): 15,
    ("status",): 15,
    ("status", "--format", "json"): 15,
    ("log",): 15,
    ("log", "--format", "json"): 15,
}
_MODULES = """
import sys
from cleveragents.cli.start import main
main()
print(len(sys.modules), file=sys.stderr)
"""


class Home:
    """A home with many records, and a project that they belong to."""

    def __init__(self, plans: int) -> None:
        self._place = tempfile.TemporaryDirectory()
        place = Path(self._place.name).resolve()
        self.project = place / "project"
        (self.project / ".git").mkdir(parents=True)
        large_database.build(place / "home", self.project, plans)
        self._environment = os.environ | {"CLEVERAGENTS_HOME": str(place / "home")}
        # As an installer leaves it.
        compileall.compile_dir(Path(cleveragents.__file__).parent, quiet=2)

    def run(self, *arguments: str) -> float:
        """Runs Python; returns how many seconds it computed."""
        before = getrusage(RUSAGE_CHILDREN)
        self._python(*arguments)
        after = getrusage(RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    def modules(self, command: Sequence[str]) -> int:
        return int(self._python("-c", _MODULES, *command).split()[-1])

    def close(self) -> None:
        self._place.cleanup()

    def _python(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.project,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stderr


class Startup:
    """The commands that must answer at once."""

    params = ([" ".join(command) for command in LIMITS],)
    param_names = ("command",)
    timeout = 600

    def setup(self, command: str) -> None:
        self.home = Home(plans=20)

    def teardown(self, command: str) -> None:
        self.home.close()

    def time_process(self, command: str) -> None:
        self.home.run("-m", "cleveragents", *command.split())

    def track_modules(self, command: str) -> int:
        return self.home.modules(command.split())


class Interpreter:
    """The part of the start that is Python's own, to compare with."""

    def time_process(self) -> None:
        subprocess.run([sys.executable, "-c", "pass"], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares commands with a bare interpreter.")
    parser.add_argument("--runs", type=int, default=15)
    runs: int = parser.parse_args().runs
    start = "import sys; from cleveragents.cli.start import main; sys.exit(main())"
    home = Home(large_database.PLANS)
    try:
        calls = {(): ("-c", "pass"), **{command: ("-c", start, *command) for command in LIMITS}}
        # Side by side, so that a busy moment of the machine meets all of them.
        rounds = [{name: home.run(*call) for name, call in calls.items()} for _ in range(runs)]
        best = {name: min(found[name] for found in rounds) for name in calls}
        too_slow = False
        print(f"{'python -c pass':40} {best[()] * 1000:6.1f} ms")
        for command, limit in LIMITS.items():
            ratio = best[command] / best[()]
            too_slow |= ratio > limit
            print(
                f"{'agents ' + ' '.join(command):40} {best[command] * 1000:6.1f} ms"
                f" {ratio:5.1f} of {limit:4} {home.modules(command):4} modules"
                f"{'  TOO SLOW' if ratio > limit else ''}"
            )
    finally:
        home.close()
    return 1 if too_slow else 0


if __name__ == "__main__":
    sys.exit(main())
