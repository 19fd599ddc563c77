"""Plan files as scenarios write them, and what reading them gave."""

from __future__ import annotations

from pathlib import Path

from cleveragents.domain.errors import CleverAgentsError, PlanFileError
from cleveragents.domain.plans.plan_file import PlanDefinition, resolve_arguments
from cleveragents.infrastructure.plan_files import YamlPlanFiles
from cleveragents.infrastructure.system import SignalInterruption
from cleveragents.infrastructure.tools.registry import Tools
from cleveragents.testing.events import NoEvents

VALID = 'name: local/example\nsteps:\n  - {tool: shell, with: {command: "true"}}\n'


class PlanReading:
    """One plan file, the plan it holds or the reason it was refused."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "plan.yaml"
        self.definition: PlanDefinition | None = None
        self.arguments: dict[str, str] | None = None
        self.error: CleverAgentsError | None = None

    def write(self, text: str) -> None:
        self.path.write_text(text, encoding="utf-8")

    def make(self, what: str) -> None:
        """Puts something at the file's place that is not a plan."""
        match what:
            case "nothing":
                return
            case "a directory":
                self.path.mkdir()
            case "an empty file":
                self.path.write_bytes(b"")
            case "a Latin-1 file":
                self.path.write_bytes(b"name: local/x\ndescription: caf\xe9\n")
            case "a file of 11 MB":
                self.path.write_bytes(b"#" * 11_000_000)
            case "a file with a control character":
                self.path.write_bytes(b"name: \x01\n")
            case "a file in place of its directory":
                self.path.write_bytes(b"")
                self.path = self.path / "plan.yaml"
            case "a file with a byte order mark":
                self.path.write_bytes(b"\xef\xbb\xbf" + VALID.encode())
            case _:
                raise AssertionError(what)

    def make_alias_bomb(self, levels: int) -> None:
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
        lines += [
            f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]"
            for level in range(1, levels)
        ]
        self.write("\n".join(lines))

    def read(self) -> None:
        tools = Tools({}, SignalInterruption(), NoEvents()).specs()
        try:
            self.definition = YamlPlanFiles(tools).load(self.path)
        except PlanFileError as error:
            self.error = error

    def resolve(self, given: dict[str, str]) -> None:
        try:
            self.arguments = resolve_arguments(self.plan, given)
        except CleverAgentsError as error:
            self.error = error

    @property
    def plan(self) -> PlanDefinition:
        if self.definition is None:
            self.read()
        assert self.definition is not None, self.error
        return self.definition

    @property
    def refusal(self) -> PlanFileError:
        assert isinstance(self.error, PlanFileError), "the file was accepted"
        return self.error

    @property
    def complaint(self) -> CleverAgentsError:
        assert self.error is not None, "there was nothing to complain about"
        return self.error
