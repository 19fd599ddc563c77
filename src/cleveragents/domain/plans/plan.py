"""Plans and their states.

`TRANSITIONS` is the whole state machine; `docs/concepts/plan-states.md` is drawn from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from cleveragents.domain.errors import DatabaseError, PlanStateError
from cleveragents.domain.plans.plan_file import PlanDefinition, StepDefinition
from cleveragents.domain.plans.session import PlanKind, SessionRecord
from cleveragents.domain.record import Record


class PlanPhase(StrEnum):
    """The three things a plan does, in this order."""

    STRATEGIZE = "strategize"
    EXECUTE = "execute"
    APPLY = "apply"


class PlanState(StrEnum):
    """The plan's progress within its phase."""

    QUEUED = "queued"
    PROCESSING = "processing"
    COMPLETE = "complete"
    ERRORED = "errored"
    CANCELLED = "cancelled"
    CONFLICT = "conflict"
    """Changes of its subplans conflict; the user has to resolve them."""
    APPLIED = "applied"
    CONSTRAINED = "constrained"


class PlanAction(StrEnum):
    """What can happen to a plan."""

    STRATEGIZE = "strategize"
    EXECUTE = "execute"
    FINISH = "finish"
    FAIL = "fail"
    ROLL_BACK = "roll back"
    REVERT = "be corrected"
    EXTEND = "be extended"
    """A correction appends a subplan."""
    CANCEL = "be cancelled"
    CONFLICT = "come into conflict"
    RESOLVE = "be resolved"
    APPLY = "be applied"
    CONSTRAIN = "be constrained"
    """A required validation failed."""
    UNAPPLY = "be taken out of the project"
    """Its apply is undone."""
    POSTPONE = "stay unapplied"
    """Nothing was applied, and the plan itself is fine."""


_STRATEGIZE, _EXECUTE, _APPLY = PlanPhase.STRATEGIZE, PlanPhase.EXECUTE, PlanPhase.APPLY
_State, _Action = PlanState, PlanAction

TRANSITIONS: Mapping[tuple[PlanPhase, PlanState, PlanAction], tuple[PlanPhase, PlanState]] = (
    MappingProxyType(
        {
            (_STRATEGIZE, _State.QUEUED, _Action.STRATEGIZE): (_STRATEGIZE, _State.PROCESSING),
            (_STRATEGIZE, _State.PROCESSING, _Action.FINISH): (_STRATEGIZE, _State.COMPLETE),
            (_STRATEGIZE, _State.PROCESSING, _Action.FAIL): (_STRATEGIZE, _State.ERRORED),
            (_STRATEGIZE, _State.COMPLETE, _Action.EXECUTE): (_EXECUTE, _State.PROCESSING),
            (_EXECUTE, _State.QUEUED, _Action.EXECUTE): (_EXECUTE, _State.PROCESSING),
            # A process that was killed leaves this state: the next holder of the lease continues.
            (_EXECUTE, _State.PROCESSING, _Action.EXECUTE): (_EXECUTE, _State.PROCESSING),
            (_EXECUTE, _State.ERRORED, _Action.EXECUTE): (_EXECUTE, _State.PROCESSING),
            (_EXECUTE, _State.PROCESSING, _Action.FINISH): (_EXECUTE, _State.COMPLETE),
            # A rollback to the state after the last step leaves nothing to run.
            (_EXECUTE, _State.QUEUED, _Action.FINISH): (_EXECUTE, _State.COMPLETE),
            (_EXECUTE, _State.PROCESSING, _Action.FAIL): (_EXECUTE, _State.ERRORED),
            (_EXECUTE, _State.PROCESSING, _Action.CONFLICT): (_EXECUTE, _State.CONFLICT),
            (_EXECUTE, _State.CONFLICT, _Action.RESOLVE): (_EXECUTE, _State.QUEUED),
            (_EXECUTE, _State.CONFLICT, _Action.CANCEL): (_EXECUTE, _State.CANCELLED),
            # A correction leaves the plan here; it still has its sandboxes and checkpoints.
            (_STRATEGIZE, _State.QUEUED, _Action.ROLL_BACK): (_EXECUTE, _State.QUEUED),
            (_STRATEGIZE, _State.QUEUED, _Action.REVERT): (_STRATEGIZE, _State.QUEUED),
            (_STRATEGIZE, _State.CANCELLED, _Action.ROLL_BACK): (_EXECUTE, _State.QUEUED),
            **{
                (_EXECUTE, state, event): after
                for state in (
                    *(_State.QUEUED, _State.PROCESSING, _State.ERRORED),
                    *(_State.COMPLETE, _State.CANCELLED, _State.CONFLICT),
                )
                for event, after in (
                    (_Action.ROLL_BACK, (_EXECUTE, _State.QUEUED)),
                    (_Action.REVERT, (_STRATEGIZE, _State.QUEUED)),
                )
            },
            **{
                (phase, state, _Action.CANCEL): (phase, _State.CANCELLED)
                for phase in (_STRATEGIZE, _EXECUTE)
                for state in (_State.QUEUED, _State.PROCESSING, _State.COMPLETE, _State.ERRORED)
            },
            **{
                (phase, state, _Action.EXTEND): (phase, state)
                for phase, state in (
                    *((_STRATEGIZE, _State.QUEUED), (_STRATEGIZE, _State.COMPLETE)),
                    *((_EXECUTE, _State.QUEUED), (_EXECUTE, _State.PROCESSING)),
                    *((_EXECUTE, _State.ERRORED), (_EXECUTE, _State.CONFLICT)),
                )
            },
            (_EXECUTE, _State.COMPLETE, _Action.EXTEND): (_EXECUTE, _State.QUEUED),
            (_APPLY, _State.ERRORED, _Action.EXTEND): (_EXECUTE, _State.QUEUED),
            (_APPLY, _State.CONSTRAINED, _Action.EXTEND): (_EXECUTE, _State.QUEUED),
            (_EXECUTE, _State.COMPLETE, _Action.APPLY): (_APPLY, _State.PROCESSING),
            (_APPLY, _State.PROCESSING, _Action.FINISH): (_APPLY, _State.APPLIED),
            (_APPLY, _State.APPLIED, _Action.UNAPPLY): (_EXECUTE, _State.COMPLETE),
            (_APPLY, _State.PROCESSING, _Action.FAIL): (_APPLY, _State.ERRORED),
            (_APPLY, _State.PROCESSING, _Action.CONSTRAIN): (_APPLY, _State.CONSTRAINED),
            (_APPLY, _State.PROCESSING, _Action.POSTPONE): (_EXECUTE, _State.COMPLETE),
            (_APPLY, _State.CANCELLED, _Action.ROLL_BACK): (_EXECUTE, _State.QUEUED),
            **{
                (_APPLY, state, event): after
                for state in (_State.PROCESSING, _State.ERRORED, _State.CONSTRAINED)
                for event, after in (
                    (_Action.APPLY, (_APPLY, _State.PROCESSING)),
                    (_Action.ROLL_BACK, (_EXECUTE, _State.QUEUED)),
                    (_Action.REVERT, (_STRATEGIZE, _State.QUEUED)),
                    (_Action.CANCEL, (_APPLY, _State.CANCELLED)),
                )
            },
        }
    )
)


def transition(
    phase: PlanPhase, state: PlanState, event: PlanAction
) -> tuple[PlanPhase, PlanState]:
    """Returns the phase and state of a plan after `event`.

    Raises:
        PlanStateError: the event is not possible in this phase and state.
    """
    try:
        return TRANSITIONS[phase, state, event]
    except KeyError:
        raise PlanStateError(event.value, phase.value, state.value) from None


_NEXT: Mapping[tuple[PlanPhase, PlanState], str] = MappingProxyType(
    {
        (_STRATEGIZE, _State.COMPLETE): "Run `agents plan execute {plan}` to run its steps",
        (_STRATEGIZE, _State.ERRORED): "Run `agents plan errors {plan}` to see what is wrong",
        (_APPLY, _State.PROCESSING): "Run `agents plan apply {plan}` to finish the apply",
        (_APPLY, _State.ERRORED): "Run `agents plan apply {plan}` to try again",
    }
)
"""The command that leads on, where the phase matters."""

_NEXT_IN_ANY_PHASE: Mapping[PlanState, str] = MappingProxyType(
    {
        _State.QUEUED: "Run `agents plan execute {plan}` to run its steps",
        _State.PROCESSING: "Run `agents plan status {plan}` to see who works on it",
        _State.COMPLETE: "Run `agents plan apply {plan}` to apply its result",
        _State.ERRORED: "Run `agents plan errors {plan}` to see what failed and what you can do",
        _State.CANCELLED: "Run `agents plan rollback {plan}` to continue from a checkpoint",
        _State.CONFLICT: "Run `agents plan conflicts {plan}` to resolve the conflicts",
        _State.APPLIED: "Run `agents plan diff {plan}` to see what it changed",
        _State.CONSTRAINED: "Run `agents plan errors {plan}` to see which validation failed",
    }
)


class PlanError(Record):
    """Why a plan failed, and what can be done about it."""

    message: str
    tool: str | None
    step: str
    """For people: `4 of 6`."""
    step_index: int
    checkpoint: str | None
    """The checkpoint of the failed state, if one was made."""
    recoverable: bool
    """Whether the sandboxes are as the plan's policy wants them after a failure."""
    hint: str | None = None
    """What the failing tool suggests."""
    before_start: bool = False
    """The run was refused before its first step, so the next one starts it again."""


class PlannedStep(NamedTuple):
    """One step that the plan runs, and its position in the plan file."""

    step: StepDefinition
    step_path: str
    """`2` for the third step of the file, `2/database/0` for the first step of its option
    `database`. Stored with decisions, so the form must not change."""
    decision_path: str | None
    """The path of the decision whose option contains the step; None at the top level."""
    chosen: str | None
    """The chosen option, if the step is a decision."""


class PlanSummary(Record):
    """The part of a plan that lists show; a plan has much more, and lists are long."""

    id: str
    name: str
    project: str
    """The project's directory."""
    phase: PlanPhase
    state: PlanState
    last_checkpoint_id: str | None = None
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    parent_plan_id: str | None = None
    """The plan that started it."""
    session: SessionRecord | None = None
    """What a program that is not ours does here; None for a plan that runs a file."""

    @property
    def kind(self) -> PlanKind:
        return PlanKind.FILE if self.session is None else PlanKind.SESSION

    @property
    def is_running_session(self) -> bool:
        """Whether its record says that the program of a session runs."""
        place = (self.phase, self.state)
        return self.session is not None and place == (PlanPhase.EXECUTE, PlanState.PROCESSING)

    def elapsed(self, now: datetime | None = None) -> float | None:
        """Returns the seconds since the plan started; None before that.

        They end when it finished or, unless `now` is given because it still runs, when its
        record last changed.
        """
        if self.started_at is None:
            return None
        until = self.finished_at or now or self.updated_at
        return round((until - self.started_at).total_seconds(), 3)


class Plan(PlanSummary, dict=True):
    """One run of a plan file, or of another program in a session, against a project."""

    project_key: str
    """Names the project's private mirror."""
    plan_file: str
    definition: PlanDefinition
    """The plan file as it was when the plan was created, with its arguments filled in."""
    arguments: dict[str, str]
    attempt: int = 1
    """1, and one more for each correction that went back to Strategize."""
    last_completed_step: int = -1
    """Index of the last step whose outcome is durable; -1 before the first."""
    decision_root_id: str | None
    error: PlanError | None = None
    choices: dict[str, str] = {}
    """By the path of a step: the option that a decision takes, the subplan that was appended."""
    cancel_reason: str | None = None
    spawn_decision_id: str | None = None
    """The decision of its parent that started it."""

    @cached_property
    def step_sequence(self) -> tuple[PlannedStep, ...]:
        """The steps that run, including chosen options; `last_completed_step` is an index here."""
        try:
            return tuple(step_sequence(self.definition.steps, self.choices))
        except KeyError as error:
            raise DatabaseError(
                f"The stored plan {self.id} cannot be read (table `plans`): its choices do not "
                f"match its decisions: {error}",
                hint="Was the database changed by hand?",
                table="plans",
                record_id=self.id,
            ) from error

    @property
    def tools(self) -> list[str]:
        """The tool of each step that runs."""
        return [item.step.tool for item in self.step_sequence]

    def after(self, event: PlanAction, now: datetime) -> Plan:
        """Returns the plan after `event`."""
        phase, state = self.moved_by(event)
        return replace(self, phase=phase, state=state, updated_at=now)

    def moved_by(self, event: PlanAction) -> tuple[PlanPhase, PlanState]:
        """Returns the phase and state after `event`.

        Raises:
            PlanStateError: the event is not possible now; the hint is the next command.
        """
        after = TRANSITIONS.get((self.phase, self.state, event))
        if after is None:
            raise self.refusal(event.value)
        return after

    def refusal(self, action: str, **details: object) -> PlanStateError:
        """Returns the error of an action that the plan's state does not allow."""
        hint = _NEXT.get((self.phase, self.state)) or _NEXT_IN_ANY_PHASE[self.state]
        if self.session is not None and self.session.works_in_place:
            hint = "Run `agents plan rollback {plan}` to go back to a checkpoint"
        return PlanStateError(
            action,
            self.phase.value,
            self.state.value,
            hint=hint.format(plan=self.id),
            plan_id=self.id,
            **details,
        )


def step_sequence(
    steps: Sequence[StepDefinition],
    choices: Mapping[str, str],
    prefix: str = "",
    decision_path: str | None = None,
) -> Iterator[PlannedStep]:
    """Yields the steps in the order they run; a decision is followed by its chosen option.

    Changing the choice of one decision changes only what follows it, so the index of an
    earlier step stays valid.

    Args:
        steps: The steps of a definition, or of a chosen option.
        choices: The chosen option of each decision, and the subplan of each appended step, by
            the path of the step.
        prefix: What the paths of the steps begin with.
        decision_path: The decision whose option they belong to.
    """
    for index, step in enumerate(steps):
        path = f"{prefix}{index}"
        if step.subplans is not None and path not in choices and step.is_appended:
            continue  # The plan was rolled back to before the step was appended.
        chosen = choices[path] if step.decision else None
        yield PlannedStep(step, path, decision_path, chosen)
        if step.decision and chosen is not None:
            inner = step.decision.options[chosen].steps
            yield from step_sequence(inner, choices, f"{path}/{chosen}/", path)
