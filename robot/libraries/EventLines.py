"""The events a run writes to stderr, one JSON object per line."""

from __future__ import annotations

import json
from typing import Any

from robot.api.deco import keyword, library
from robot.libraries.BuiltIn import BuiltIn

Line = dict[str, Any]


@library(scope="TEST", auto_keywords=False)
class EventLines:
    """Reads the lines of the last command, or of the one that was started."""

    @property
    def agents(self) -> Any:
        return BuiltIn().get_library_instance("AgentsCli")

    @keyword("The Emitted Events")
    def emitted(self) -> list[tuple[int, str, Any]]:
        """Number, type and facts of what is stored; every line of stderr must be JSON."""
        lines: list[Line] = [json.loads(line) for line in self.agents.stderr.splitlines()]
        stored = [line for line in lines if "sequence" in line]
        if not stored or len(stored) == len(lines):
            raise AssertionError(f"Not both events and progress in:\n{self.agents.stderr}")
        return [(line["sequence"], line["type"], line["data"]) for line in stored]

    @keyword("The Log Has Exactly")
    def log_has(self, expected: list[tuple[int, str, Any]]) -> None:
        events = self.agents.the_data_field("events")
        found = [(event["sequence"], event["type"], event["data"]) for event in events]
        if found != expected:
            raise AssertionError(f"{found}\nis not\n{expected}")

    @keyword("The Types In The Log Are")
    def types_are(self, *expected: str) -> None:
        found = [event["type"] for event in self.agents.the_data_field("events")]
        if found != list(expected):
            raise AssertionError(f"{found} is not {list(expected)}")

    @keyword("A Line Has")
    def line_of(self, kind: str, step: int) -> None:
        """Reads the output of the started run up to that line; the run need not have ended."""
        run = self.agents._started
        for text in run.stderr:
            line: Line = json.loads(text)
            if line["type"] == kind and line["data"].get("step_index") == step - 1:
                return
        raise AssertionError(f"The run ended without {kind} of step {step}")
