"""The effect ledger: what a plan did that no restore can undo."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cleveragents.domain.record import Record
from cleveragents.domain.tools.tool import IRREVERSIBLE, ToolCall, ToolCallStatus


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
