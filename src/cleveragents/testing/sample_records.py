"""Records to store in tests: whole, valid, and full of strings that break naive stores."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from msgspec.structs import replace

from cleveragents.domain.checkpoints.checkpoint import (
    Checkpoint,
    CheckpointGroup,
    CheckpointMetadata,
    CheckpointType,
    Lineage,
    Trigger,
)
from cleveragents.domain.checkpoints.operation import (
    Operation,
    OperationKind,
    OperationStatus,
    Position,
)
from cleveragents.domain.decisions.correction import (
    CorrectionAttempt,
    CorrectionMode,
    CorrectionState,
    RevertedDecision,
)
from cleveragents.domain.decisions.decision import Decision, DecisionType
from cleveragents.domain.plans.apply import ApplyMode, ApplyRecord, Target
from cleveragents.domain.plans.lease import Holder, Lease
from cleveragents.domain.plans.plan import Plan, PlanError, PlanPhase, PlanState
from cleveragents.domain.plans.plan_file import (
    ArgumentDefinition,
    PlanDefinition,
    ResourceDefinition,
    ResourceType,
    StepDefinition,
)
from cleveragents.domain.plans.validation import ValidationMode, ValidationResult, ValidationStatus
from cleveragents.domain.record import JsonValue
from cleveragents.domain.sandboxes.change import ChangeOperation, PathChange
from cleveragents.domain.sandboxes.sandbox import (
    CopyMethod,
    DiffFile,
    Evidence,
    Resource,
    SandboxRef,
    SandboxState,
    SandboxStrategy,
    Uncaptured,
)
from cleveragents.domain.tools.tool import ToolCall, ToolCallStatus, ToolSpec

ODD = "caf\udce9 \x00 \N{SYMBOL FOR ESCAPE}0041 \\u0041 '\"%_ \N{GRINNING FACE}\r\n\ttail "
"""A name that is not UTF-8, NUL, our own escape character, quotes, wildcards, line ends."""

START = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)


def moment(number: int) -> datetime:
    """Returns the `number`-th moment of a test; each is one microsecond after the one before."""
    return START + timedelta(microseconds=number)


def plan(plan_id: str = "PLAN1", number: int = 0) -> Plan:
    """Returns a plan with every field filled."""
    step_input: dict[str, JsonValue] = {ODD: [ODD, 1, None, {"a": 1.5}]}
    definition = PlanDefinition(
        name="local/odd",
        description=ODD,
        arguments={"who": ArgumentDefinition(default=ODD)},
        resources={"project": ResourceDefinition(type=ResourceType.GIT_CHECKOUT, path=ODD)},
        tools={"format": ToolSpec(name="format", writes=True, side_effects=["irreversible"])},
        steps=[StepDefinition.model_validate({"name": ODD, "tool": "shell", "with": step_input})],
    )
    return Plan(
        id=plan_id,
        name=ODD,
        project=f"/projects/{ODD}",
        project_key="key",
        plan_file=ODD,
        definition=definition,
        arguments={ODD: ODD},
        phase=PlanPhase.EXECUTE,
        state=PlanState.ERRORED,
        attempt=2,
        last_completed_step=-1,
        last_checkpoint_id="CHECKPOINT1",
        decision_root_id="DECISION1",
        error=PlanError(
            message=ODD,
            tool=None,
            step="4 of 6",
            step_index=3,
            checkpoint=None,
            recoverable=True,
        ),
        created_at=moment(number),
        updated_at=START.astimezone(timezone(timedelta(hours=-7))),
        started_at=datetime(2026, 1, 2, tzinfo=UTC),
        finished_at=None,
        choices={"2": ODD},
        cancel_reason=ODD,
    )


def resource(resource_id: str = "RESOURCE1", plan_id: str = "PLAN1", position: int = 0) -> Resource:
    return Resource(
        id=resource_id,
        plan_id=plan_id,
        name=ODD,
        type=ResourceType.GIT_CHECKOUT,
        strategy=SandboxStrategy.GIT_WORKTREE,
        path=ODD,
        position=position,
        include_uncommitted=position > 0,
    )


def sandbox(
    sandbox_id: str = "SANDBOX1", plan_id: str = "PLAN1", resource_id: str = "RESOURCE1"
) -> SandboxRef:
    return SandboxRef(
        id=sandbox_id,
        plan_id=plan_id,
        resource_id=resource_id,
        resource=ODD,
        strategy=SandboxStrategy.GIT_WORKTREE,
        path=ODD,
        branch=ODD,
        store=ODD,
        base_commit=None,
        state=SandboxState.CREATED,
        created_at=START,
        copied_by=CopyMethod.REFLINK,
        skipped=(Uncaptured(path=ODD, reason=ODD),),
        home_id="HOME1",
    )


def group(number: int = 1, plan_id: str = "PLAN1") -> CheckpointGroup:
    """Returns the `number`-th group of a plan."""
    return CheckpointGroup(
        id=f"{plan_id}-GROUP{number}",
        plan_id=plan_id,
        sequence=number,
        created_at=moment(number),
        snapshots={"RESOURCE1": f"snapshot {number}", ODD: ODD},
        state_hashes={"RESOURCE1": f"hash {number}"},
        pinned=number == 1,
        set_aside_by=None,
        way=Lineage(groups=((1, number),), decisions=((1, 2), (4, 4)), choices={ODD: ODD}),
    )


def checkpoint(number: int = 1, plan_id: str = "PLAN1", group_number: int = 0) -> Checkpoint:
    """Returns the `number`-th checkpoint of a plan, in the group of that number or another."""
    metadata = CheckpointMetadata(
        label=ODD,
        step_index=number,
        last_completed_step=number - 1,
        state_hash=f"hash {number}",
        phase=PlanPhase.EXECUTE,
        trigger=Trigger.ON_ERROR,
        source_tool=ODD,
        reason=ODD,
        resource=ODD,
        not_captured=(Uncaptured(path=ODD, reason=ODD),),
        evidence=Evidence.SCAN,
        partial=True,
        tool_calls=(ODD,),
        effective_calls=((1, 3), (5, 5)),
    )
    return Checkpoint(
        id=f"{plan_id}-CHECKPOINT{number}",
        plan_id=plan_id,
        group_id=f"{plan_id}-GROUP{group_number or number}",
        sequence=number,
        decision_id=None,
        resource_id="RESOURCE1",
        checkpoint_type=CheckpointType.AUTOMATIC,
        sandbox_ref=ODD,
        filesystem_path=ODD,
        size_bytes=2**40,
        created_at=moment(number),
        metadata=metadata,
    )


def decision(number: int = 1, plan_id: str = "PLAN1", parent_id: str | None = None) -> Decision:
    """Returns the `number`-th decision of a plan."""
    return Decision(
        id=f"DECISION{number}",
        plan_id=plan_id,
        parent_id=parent_id,
        sequence=number,
        decision_type=DecisionType.PROMPT_DEFINITION,
        question=ODD,
        chosen_option=ODD,
        alternatives_considered=[ODD, ""],
        confidence=0.1,
        rationale=ODD,
        context_snapshot={ODD: [ODD, None, 1.5, True]},
        is_correction=True,
        superseded_by=None,
        step_index=number,
        created_at=moment(number),
        place=f"{number}/{ODD}/0",
        downstream_plan_ids=[ODD],
        actor_reasoning=ODD,
        correction_reason=ODD,
    )


def tool_call(number: int = 1, plan_id: str = "PLAN1") -> ToolCall:
    """Returns the `number`-th tool call of a plan, just started."""
    return ToolCall(
        id=f"CALL{number}",
        plan_id=plan_id,
        sequence=number,
        step_index=0,
        tool=ODD,
        resource=ODD,
        input={ODD: ODD},
        input_hash="hash",
        status=ToolCallStatus.STARTED,
        output=None,
        error=None,
        undone_by=None,
        started_at=moment(number),
        finished_at=None,
        side_effects=(ODD,),
    )


def change(number: int = 1, path: str = ODD) -> PathChange:
    """Returns what the `number`-th tool call of a plan did to a path."""
    return PathChange(
        path=path,
        operation=ChangeOperation.MODIFIED,
        before_hash=f"{number - 1:040}",
        after_hash=f"{number:040}",
        before_mode=0o100644,
        after_mode=0o120777,
    )


def made_directory(path: str = "directory") -> PathChange:
    """Returns the making of a directory."""
    return PathChange(
        path=path,
        operation=ChangeOperation.CREATED,
        before_hash=None,
        after_hash=None,
        before_mode=None,
        after_mode=0o40755,
    )


def operation(number: int = 1, plan_id: str = "PLAN1") -> Operation:
    """Returns the `number`-th operation of a plan, begun and not ended."""
    return Operation(
        id=f"OPERATION{number}",
        plan_id=plan_id,
        kind=OperationKind.ROLLBACK,
        status=OperationStatus.PENDING,
        target_checkpoint_id="CHECKPOINT1",
        target_group_id="GROUP1",
        safety_group_id="GROUP2",
        note=ODD,
        created_at=moment(number),
        finished_at=None,
        before=position(number),
        after=position(number + 1),
        takes_back=ODD,
    )


def position(number: int = 1) -> Position:
    """Returns where a plan may stand."""
    return Position(
        phase=PlanPhase.EXECUTE,
        state=PlanState.ERRORED,
        attempt=number,
        last_completed_step=number,
        last_checkpoint_id=ODD,
        choices={ODD: ODD},
        error=plan().error,
        cancel_reason=ODD,
        finished_at=moment(number),
        calls=((1, number),),
        decisions=((1, 2), (4, 4)),
        groups=(),
        children={"PLAN2": PlanState.COMPLETE},
    )


def apply_record() -> ApplyRecord:
    """Returns what an apply may do: something to one resource, and nothing to another."""
    file = DiffFile(path=ODD, status="modified", insertions=None, deletions=3)
    touched = Target(
        resource_id=ODD,
        resource=ODD,
        type=ResourceType.GIT_CHECKOUT,
        path=ODD,
        store=ODD,
        document=ODD,
        files=(file,),
        commit=ODD,
        branch=ODD,
    )
    nothing = replace(touched, document="", files=(), commit=None, branch=None)
    return ApplyRecord(
        mode=ApplyMode.BRANCH,
        include_uncommitted=True,
        targets=(touched, nothing),
        remove_sandboxes=True,
    )


def validation(number: int = 1, plan_id: str = "PLAN1") -> ValidationResult:
    """Returns what the `number`-th validation of a plan said."""
    return ValidationResult(
        id=f"VALIDATION{number}",
        plan_id=plan_id,
        name=ODD,
        mode=ValidationMode.REQUIRED,
        status=ValidationStatus.FAILED,
        message=ODD,
        output=ODD,
        changed=(ODD, ""),
        started_at=moment(number),
        finished_at=moment(number + 1_500_000),
    )


def correction(number: int = 1, plan_id: str = "PLAN1") -> CorrectionAttempt:
    """Returns the `number`-th correction of a plan, of its first decision."""
    fallen = RevertedDecision(decision_id=ODD, question=ODD, chosen=ODD, artifacts=(ODD, ""))
    return CorrectionAttempt(
        id=f"CORRECTION{number}",
        plan_id=plan_id,
        original_decision_id="DECISION1",
        new_decision_id=ODD,
        operation_id=f"OPERATION{number}",
        mode=CorrectionMode.REVERT,
        guidance=ODD,
        choose=ODD,
        attempt=number + 1,
        state=CorrectionState.EXECUTING,
        original_subtree=(fallen,),
        archived_checkpoint_id=ODD,
        archived_artifacts_path=ODD,
        child_plan_id=ODD,
        created_at=moment(number),
        completed_at=None,
    )


def lease(owner_id: str = "OWNER1", fencing: int = 1, plan_id: str = "PLAN1") -> Lease:
    holder = Holder(
        owner_id=owner_id,
        host=ODD,
        process_id=2**33,
        process_started="12345",
        command=ODD,
    )
    return Lease(
        plan_id=plan_id,
        holder=holder,
        fencing=fencing,
        acquired_at=START,
        expires_at=moment(1),
        released=False,
    )
