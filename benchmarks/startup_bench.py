"""How long a person waits for the program to start, and how much it loads for that."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

COUNT_MODULES = """
import sys
from cleveragents.cli.main import main
sys.argv = ["agents", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
print(len(sys.modules), file=sys.stderr)
"""


class Startup:
    """The commands that must answer at once."""

    params = (["--version", "--help"],)
    param_names = ("option",)
    timeout = 60

    def setup(self, option: str) -> None:
        self.home = tempfile.TemporaryDirectory()
        self.environment = os.environ | {"CLEVERAGENTS_HOME": self.home.name}
        self.run("-m", "cleveragents", option)

    def teardown(self, option: str) -> None:
        self.home.cleanup()

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stderr

    def time_process(self, option: str) -> None:
        self.run("-m", "cleveragents", option)

    def track_modules(self, option: str) -> int:
        return int(self.run("-c", COUNT_MODULES, option).split()[-1])


class Interpreter:
    """The part of the start that is Python's own, to compare with."""

    def time_process(self) -> None:
        subprocess.run([sys.executable, "-c", "pass"], check=True)
