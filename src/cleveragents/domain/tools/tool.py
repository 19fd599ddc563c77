"""Tools: what they declare about themselves, and the record of one call."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, cast

import msgspec

from cleveragents.domain.errors import CleverAgentsError
from cleveragents.domain.names import nearest
from cleveragents.domain.record import JsonValue, Record

IRREVERSIBLE = "irreversible"
"""The side effect that no restore can undo: a push, an e-mail."""
READS_AND_WRITES = "a tool cannot be both `read_only` and `writes`"
DEFAULT_TIMEOUT_SECONDS = 600
MAX_TIMEOUT_SECONDS = 86_400
TimeoutSeconds = Annotated[int, msgspec.Meta(ge=1, le=MAX_TIMEOUT_SECONDS)]
_LIKE_WRITES: Any = None


class ParameterType(StrEnum):
    """The types of a tool's inputs."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    LIST = "list"
    """A list of texts."""


class CheckpointScope(StrEnum):
    """What a tool's checkpoints capture."""

    SANDBOX = "sandbox"
    TRANSACTION = "transaction"
    """A database: the tool runs only on a `sqlite` resource."""


class ToolParameter(Record):
    """One input of a tool."""

    type: ParameterType
    description: str
    required: bool = True
    pattern: str | None = None
    """A pattern that the whole text must match; in a list, each text."""
    minimum: int | float | None = None
    maximum: int | float | None = None


class ToolSpec(Record):
    """What a tool declares about itself; checkpoints and guards follow from it."""

    name: str
    description: str = ""
    parameters: dict[str, ToolParameter] = {}
    writes: bool = False
    """May change the sandbox: a checkpoint is made before and after it."""
    read_only: bool = False
    write_scope: str | None = None
    checkpointable: bool = _LIKE_WRITES
    """Defaults to `writes`: a tool whose writes cannot be rolled back must declare it."""
    checkpoint_scope: str = CheckpointScope.SANDBOX.value
    side_effects: list[str] = []
    """`irreversible` marks what no restore can undo."""
    idempotent: bool = False
    unsafe: bool = False
    timeout: TimeoutSeconds = DEFAULT_TIMEOUT_SECONDS
    run: str | None = None
    """The shell command of a tool that a plan file defines; built-in tools have none."""

    def __post_init__(self) -> None:
        """Raises: ValueError, if the tool is declared to write and not to."""
        if self.read_only and self.writes:
            raise ValueError(READS_AND_WRITES)
        if cast("bool | None", self.checkpointable) is None:
            msgspec.structs.force_setattr(self, "checkpointable", self.writes)

    @property
    def is_irreversible(self) -> bool:
        return IRREVERSIBLE in self.side_effects


class KnownTool(Record):
    """A tool and where it comes from."""

    spec: ToolSpec
    source: str
    """`built-in`, `registered`, or the package with its version."""


class ToolCallStatus(StrEnum):
    """Whether a tool call has ended, and how."""

    STARTED = "started"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


def input_hash(given: Mapping[str, JsonValue]) -> str:
    """Returns a hash of the input, to compare inputs with."""
    import hashlib

    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()


class ToolCall(Record):
    """One execution of a tool: the intent is stored before it starts, the outcome after."""

    id: str
    plan_id: str
    sequence: int
    step_index: int
    tool: str
    resource: str
    input: dict[str, JsonValue]
    input_hash: str
    status: ToolCallStatus
    output: str | None
    error: str | None
    undone_by: str | None
    """The operation that undid its effects."""
    started_at: datetime
    finished_at: datetime | None
    side_effects: tuple[str, ...] = ()
    """The side effects that the tool declared when it was called."""
    stderr: tuple[tuple[int, int], ...] = ()
    """Which characters of the output came from standard error: ranges, the end excluded."""

    @classmethod
    def begin(
        cls,
        call_id: str,
        plan_id: str,
        sequence: int,
        *,
        step_index: int,
        tool: str,
        resource: str,
        given: Mapping[str, JsonValue],
        started_at: datetime,
        side_effects: Sequence[str] = (),
    ) -> ToolCall:
        """Returns a call that is about to start; `given` is its input."""
        return cls(
            id=call_id,
            plan_id=plan_id,
            sequence=sequence,
            step_index=step_index,
            tool=tool,
            resource=resource,
            input=dict(given),
            input_hash=input_hash(given),
            status=ToolCallStatus.STARTED,
            output=None,
            error=None,
            undone_by=None,
            started_at=started_at,
            finished_at=None,
            side_effects=tuple(side_effects),
        )


class ToolInvocation(Record):
    """Everything a tool needs to run."""

    spec: ToolSpec
    input: dict[str, JsonValue]
    directory: str
    """The sandbox it works in."""
    resources: dict[str, str]
    """The path of every sandbox of the plan, by resource name."""
    database: str | None = None
    """The file of the `sqlite` resource it runs on; None on any other."""
    plan_id: str | None = None
    """Passed in the tool's environment if there is a plan."""
    call_id: str | None = None
    """Passed in the tool's environment, so that its processes can be found."""


class ToolResult(Record):
    """The result of a tool."""

    output: str
    """Limited in size: `truncated` says whether there was more."""
    truncated: bool = False
    stderr: tuple[tuple[int, int], ...] = ()
    """Which characters of the output came from standard error: ranges, the end excluded."""


def output_pieces(output: str, stderr: Sequence[tuple[int, int]]) -> tuple[tuple[str, bool], ...]:
    """Returns the output in pieces, and whether each came from standard error."""
    pieces: list[tuple[str, bool]] = []
    position = 0
    for start, end in stderr:
        pieces += [(output[position:start], False), (output[start:end], True)]
        position = end
    pieces.append((output[position:], False))
    return tuple(piece for piece in pieces if piece[0])


def printed_by(failure: CleverAgentsError) -> ToolResult:
    """Returns what a tool printed before it failed."""
    output, stderr = failure.details.get("output"), failure.details.get("stderr", ())
    if not isinstance(output, str):
        return ToolResult(output="")
    return ToolResult.model_validate({"output": output, "stderr": stderr})


def resource_variable(name: str) -> str:
    """Returns the environment variable in which a tool finds the resource's sandbox."""
    return "CLEVERAGENTS_RESOURCE_" + re.sub(r"[^A-Z0-9]", "_", name.upper())


class InputProblem(Record):
    """What is wrong with one input of a tool."""

    name: str
    message: str
    hint: str | None = None


def validate_input(spec: ToolSpec, given: Mapping[str, JsonValue]) -> list[InputProblem]:
    """Compares a tool's input with what the tool declares; no problems means it may run."""
    unknown = [
        InputProblem(
            name=name,
            message=f"`{spec.name}` has no input `{name}`",
            hint=nearest(name, spec.parameters),
        )
        for name in given
        if name not in spec.parameters
    ]
    wrong = [
        InputProblem(name=name, message=f"`{name}` {fault[0]}", hint=fault[1])
        for name, value in given.items()
        if (parameter := spec.parameters.get(name)) and (fault := _fault(parameter, value))
    ]
    missing = [
        InputProblem(
            name=name,
            message=f"`{spec.name}` needs the input `{name}`",
            hint=f"`{name}`: {parameter.description}" if parameter.description else None,
        )
        for name, parameter in spec.parameters.items()
        if parameter.required and name not in given
    ]
    return [*unknown, *wrong, *missing]


def _fault(parameter: ToolParameter, value: JsonValue) -> tuple[str, str | None] | None:
    match parameter.type:
        case ParameterType.STRING if not isinstance(value, str):
            return "must be text", 'Put the value in quotes, like "1"'
        case ParameterType.INTEGER if isinstance(value, bool) or not isinstance(value, int):
            return "must be a whole number", "Write the number without quotes"
        case ParameterType.NUMBER if not _is_number(value):
            return "must be a number", "Write the number without quotes"
        case ParameterType.BOOLEAN if not isinstance(value, bool):
            return "must be `true` or `false`", "Write it without quotes"
        case ParameterType.LIST if not _is_list_of_texts(value):
            return "must be a list of texts", 'Write it like ["one", "two"]'
        case _:
            pass
    if isinstance(value, int | float) and not isinstance(value, bool):
        if parameter.minimum is not None and value < parameter.minimum:
            return f"must be at least {parameter.minimum}", None
        if parameter.maximum is not None and value > parameter.maximum:
            return f"must be at most {parameter.maximum}", None
    elif parameter.pattern is not None:
        texts: Sequence[JsonValue] = value if isinstance(value, list) else [value]
        for text in texts:
            if re.fullmatch(parameter.pattern, str(text)) is None:
                return f"must not be `{text}`", parameter.description
    return None


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_list_of_texts(value: JsonValue) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


class Effect(Record):
    """An irreversible effect of one tool call."""

    tool_call_id: str
    step_index: int
    tool: str
    side_effects: tuple[str, ...]
    certain: bool
    """False for a call that failed or was interrupted: the effect may have happened or not."""

    def __str__(self) -> str:
        doubt = "" if self.certain else ", perhaps"
        return f"step {self.step_index + 1} (`{self.tool}`{doubt})"


def effects_of(calls: Iterable[ToolCall]) -> tuple[Effect, ...]:
    """Returns the irreversible effects of calls, in their order."""
    return tuple(
        Effect(
            tool_call_id=call.id,
            step_index=call.step_index,
            tool=call.tool,
            side_effects=call.side_effects,
            certain=call.status is ToolCallStatus.SUCCEEDED,
        )
        for call in calls
        if IRREVERSIBLE in call.side_effects
    )


def repeated_by(
    calls: Sequence[ToolCall], first_step: int, tools: Sequence[str]
) -> tuple[Effect, ...]:
    """Returns the effects that running the plan from `first_step` on would repeat.

    Undoing a call restores the sandbox and nothing else. After a correction the same index
    may be another step: only a call whose tool is also in `tools` at that index counts.
    """
    done = [
        call
        for call in calls
        if call.tool in tools[max(first_step, call.step_index) : call.step_index + 1]
        and (call.undone_by is not None or call.status is not ToolCallStatus.SUCCEEDED)
    ]
    newest = {call.step_index: call for call in done if IRREVERSIBLE in call.side_effects}
    return effects_of(newest[step] for step in sorted(newest))


def seconds_spent(calls: Iterable[ToolCall]) -> float:
    """Returns how long the calls took that have ended."""
    return sum(
        (call.finished_at - call.started_at).total_seconds()
        for call in calls
        if call.finished_at is not None
    )


def expected_seconds(calls: Sequence[ToolCall], steps: int) -> float | None:
    """Returns how long more steps take if each takes as long as those that are done, on average.

    None if no step is done, or none is left.
    """
    done = [call for call in calls if call.undone_by is None and call.finished_at is not None]
    if not done or not steps:
        return None
    return round(seconds_spent(done) / len({call.step_index for call in done}) * steps, 3)
