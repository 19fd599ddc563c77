"""Plans: the status of one, and lists."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime

from cleveragents.application.services.plan_service import PlanActivity, PlanStatus
from cleveragents.domain.checkpoints.checkpoint import Checkpoint
from cleveragents.domain.decisions.decision import RECORD_DECISION
from cleveragents.domain.plans.apply import ApplyRecord, Target
from cleveragents.domain.plans.lease import Holder, Lease
from cleveragents.domain.plans.plan import Plan, PlanPhase, PlanState, PlanSummary
from cleveragents.domain.plans.plan_file import work_places
from cleveragents.domain.plans.session import SessionRecord
from cleveragents.domain.plans.validation import (
    Requirement,
    ValidationResult,
    requirement_status,
)
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import SandboxRef, SandboxState
from cleveragents.reports.checkpoints.checkpoint import UNCAPTURED
from cleveragents.reports.described import Description, Field, times
from cleveragents.reports.plans.conflicts import CONFLICT
from cleveragents.reports.report import Column, Commands, Fields, Report, Section, paragraph

_PLAN = Description[PlanSummary](
    Field("id", "Plan", lambda it: it.id),
    Field("name", "Name", lambda it: it.name),
    Field("action", None, lambda it: it.name),
    Field("phase", "Phase", lambda it: it.phase),
    Field("state", "State", lambda it: it.state),
    Field("project", "Project", lambda it: it.project),
    Field("created_at", "Created (UTC)", lambda it: it.created_at),
    Field("updated_at", None, lambda it: it.updated_at),
    Field("last_checkpoint_id", None, lambda it: it.last_checkpoint_id),
    Field("parent_plan_id", None, lambda it: it.parent_plan_id),
    Field("kind", None, lambda it: it.kind),
)

_SESSION = Description[SessionRecord](
    Field("isolation", None, lambda it: it.isolation),
    Field("command", None, lambda it: list(it.command)),
    Field("exit_code", None, lambda it: it.exit_code),
    Field("client", None, lambda it: it.client),
    Field("turns", None, lambda it: it.turns),
)

_CHILD = Description[Plan](
    Field("plan_id", None, lambda it: it.id),
    Field("name", None, lambda it: it.name),
    Field("phase", None, lambda it: it.phase),
    Field("state", None, lambda it: it.state),
)

_SANDBOX = Description[SandboxRef](
    Field("resource", None, lambda it: it.resource),
    Field("strategy", None, lambda it: it.strategy),
    Field("path", None, lambda it: it.path),
    Field("branch", None, lambda it: it.branch),
    Field("status", None, lambda it: it.state),
    Field("copy", None, lambda it: it.copied_by),
    Field("skipped", None, lambda it: UNCAPTURED.list(it.skipped)),
)

_CHECKPOINT = Description[Checkpoint](
    Field("checkpoint_id", None, lambda it: it.id),
    Field("label", None, lambda it: it.metadata.label),
    Field("created_at", None, lambda it: it.created_at),
)

_VALIDATION = Description[ValidationResult](
    Field("name", None, lambda it: it.name),
    Field("mode", None, lambda it: it.mode),
    Field("status", None, lambda it: it.status),
)

_LOOK = ("See what it changed", "diff")
_BACK = ("Go back to a checkpoint", "rollback")
_NEXT: Mapping[PlanPhase | PlanState, tuple[tuple[str, str], ...]] = {
    PlanPhase.STRATEGIZE: (("Run its steps", "execute"),),
    PlanState.QUEUED: (("Run its steps", "execute"),),
    PlanState.COMPLETE: (_LOOK, ("Apply it to the project", "apply"), _BACK),
    PlanState.PROCESSING: (("Continue it", "resume"),),
    PlanState.ERRORED: (("See what failed", "errors"), ("Continue it", "resume"), _BACK),
    PlanState.CONFLICT: (("Resolve the conflicts", "conflicts"), _BACK),
    PlanState.CONSTRAINED: (
        ("See what the validations printed", "output"),
        ("Apply it again", "apply"),
        _BACK,
    ),
    PlanState.CANCELLED: (_BACK,),
    PlanState.APPLIED: (_LOOK,),
}
"""What the user can do next with a plan that no process works on."""
_NO_PLANS = "There are no plans yet. Run `agents plan run plan.yaml` to create one."
_NO_MATCHES = "No plan matches. Run `agents plan list` without options to see all plans."

_TARGET = Description[Target](
    Field("resource", None, lambda it: it.resource),
    Field("path", None, lambda it: it.path),
    Field("commit", None, lambda it: it.commit),
    Field("branch", None, lambda it: it.branch),
    Field("files", None, lambda it: len(it.files)),
)


def _sandbox_data(status: PlanStatus, sandbox: SandboxRef) -> dict[str, object]:
    """Returns the fields of a sandbox; a private view is at the project's own path."""
    data = _SANDBOX.data(sandbox)
    if sandbox.strategy is not SandboxStrategy.PRIVATE_VIEW:
        return data
    project = next(item.path for item in status.resources if item.id == sandbox.resource_id)
    return {**data, "path": project, "layer": _layer(sandbox)}


def _places(sandbox: SandboxRef) -> list[tuple[str, str]]:
    if sandbox.strategy is SandboxStrategy.PRIVATE_VIEW:
        return [("layer", _layer(sandbox))]
    return [("sandbox", sandbox.path)]


def _layer(sandbox: SandboxRef) -> str:
    """Returns the directory that holds what a private view has changed."""
    return f"{sandbox.path.removesuffix('/view')}/upper"


def plan_data(status: PlanStatus) -> dict[str, object]:
    """Returns the fields of `plan run`, `use`, `execute` and `status`: a stable contract."""
    plan = status.plan
    sandboxes = [_sandbox_data(status, item) for item in status.sandboxes]
    following = [command for _, command in _next(status)]
    return {
        "plan_id": plan.id,
        "name": plan.name,
        "action": plan.name,
        "kind": plan.kind,
        **session_data(plan, status.holder, status.held_since),
        "phase": plan.phase,
        "state": plan.state,
        "project": plan.project,
        "plan_file": plan.plan_file,
        "arguments": plan.arguments,
        "inputs": plan.arguments,
        "include_uncommitted": any(item.include_uncommitted for item in status.resources),
        "attempt": plan.attempt,
        "steps": len(plan.step_sequence),
        "last_completed_step": plan.last_completed_step,
        "last_checkpoint_id": plan.last_checkpoint_id,
        "started": plan.started_at,
        "strategy_summary": _strategy(plan),
        "progress": [
            {"step": name, "label": _label(plan, name), "status": state}
            for name, state in _progress(plan).items()
        ],
        "timing": {
            "created": plan.created_at,
            "started": plan.started_at,
            "finished": plan.finished_at,
            "elapsed": status.elapsed,
            "eta": status.eta,
        },
        "execution": {
            "sandbox": sandboxes[0] if sandboxes else None,
            "sandboxes": sandboxes,
            "shared": _shared(status),
            "tool_calls": sum(1 for call in status.tool_calls if call.undone_by is None),
            "files_modified": status.files_modified,
            "child_plans": _child_plans(status.children),
            "checkpoints": len(status.checkpoints),
            "checkpoints_dropped": status.retention.dropped,
        },
        "checkpoints": _CHECKPOINT.list(status.checkpoints),
        "validations": _VALIDATION.list(status.validations),
        "definition_of_done": requirements_data(status, plan.definition.definition_of_done),
        "invariants": requirements_data(status, plan.definition.invariants),
        "applied": None if status.applied is None else _applied_data(status.applied),
        "parent_plan_id": plan.parent_plan_id,
        "children": _CHILD.list(status.children),
        "conflicts": CONFLICT.list(status.conflicts),
        "cancel_reason": plan.cancel_reason,
        "held_by": str(status.holder) if status.holder else None,
        "interrupted": _is_interrupted(status),
        "interrupted_operation": status.interrupted.id if status.interrupted else None,
        "error": plan.error.model_dump(mode="json") if plan.error else None,
        "next": following,
        "next_steps": following,
    }


def session_data(
    plan: PlanSummary, holder: Holder | None, since: datetime | None
) -> dict[str, object]:
    """Returns the fields that only a session has.

    Args:
        plan: The plan.
        holder: The process that holds it, if one does.
        since: When that process took it.
    """
    if plan.session is None:
        return {}
    return {
        **_SESSION.data(plan.session),
        "recorder": {"pid": holder.process_id, "host": holder.host, "since": since}
        if plan.is_running_session and holder is not None
        else None,
    }


def _session_data_of(plan: PlanSummary, lease: Lease | None) -> dict[str, object]:
    return session_data(plan, lease and lease.holder, lease and lease.acquired_at)


def requirements_data(
    status: PlanStatus, requirements: Sequence[Requirement]
) -> list[dict[str, object]]:
    """Returns criteria or invariants of a plan, and whether each is met."""
    return [
        {
            "text": item.text,
            "validation": item.validation,
            "status": requirement_status(
                item, status.validations, applied=status.plan.state is PlanState.APPLIED
            ),
        }
        for item in requirements
    ]


def _requirement_rows(status: PlanStatus) -> list[tuple[str, str]]:
    definition = status.plan.definition
    named = (("done when", definition.definition_of_done), ("invariant", definition.invariants))
    return [
        (name, f"{item['text']}: {str(item['status']).replace('_', ' ')}")
        for name, requirements in named
        for item in requirements_data(status, requirements)
    ]


def _shared(status: PlanStatus) -> list[dict[str, object]]:
    """Returns the resources that have no sandbox of their own, and where they are."""
    resources = status.plan.definition.resources
    places = work_places(resources, {item.resource: item.path for item in status.sandboxes})
    return [
        {"resource": name, "sandbox": item.shared.sandbox, "path": places[name]}
        for name, item in resources.items()
        if item.shared is not None and name in places
    ]


def _strategy(plan: Plan) -> dict[str, object]:
    """Returns what the plan file says will be done."""
    steps = [item.step for item in plan.step_sequence]
    return {
        "steps": len(steps),
        "decisions": sum(step.tool == RECORD_DECISION for step in steps),
        "invariants": len(plan.definition.invariants),
        "planned_child_plans": sum(len(step.subplans.plans) for step in steps if step.subplans),
    }


def _label(plan: Plan, phase: str) -> str:
    """Returns what a phase does, for people; for Execute how far it is."""
    if phase != PlanPhase.EXECUTE.value.capitalize() or plan.session is not None:
        return phase
    return f"{phase}: {plan.last_completed_step + 1} of {len(plan.step_sequence)} steps"


def _child_plans(children: Sequence[Plan]) -> str:
    """Counts the children that were not cancelled, and how many of them are complete."""
    done = (PlanState.COMPLETE, PlanState.APPLIED)
    states = [child.state for child in children if child.state is not PlanState.CANCELLED]
    return f"{sum(state in done for state in states)}/{len(states)} complete"


def _applied_data(applied: ApplyRecord) -> dict[str, object]:
    return {"mode": applied.mode, "targets": _TARGET.list(applied.targets)}


def _is_interrupted(status: PlanStatus) -> bool:
    """Whether a plan is processing although no process holds it: the one that did was killed."""
    return status.plan.state is PlanState.PROCESSING and status.holder is None


def plan_report(status: PlanStatus, messages: tuple[str, ...] = ()) -> Report:
    plan = status.plan
    rows = [
        ("plan", plan.id),
        ("name", plan.name),
        ("project", plan.project),
        ("phase", plan.phase.value),
        ("state", plan.state.value),
        *_work_rows(plan),
        ("checkpoints", str(len(status.checkpoints))),
        ("last checkpoint", plan.last_checkpoint_id or "none yet"),
    ]
    rows += [
        (title, path)
        for sandbox in status.sandboxes
        if sandbox.state is not SandboxState.CLEANED_UP
        for title, path in _places(sandbox)
    ]
    rows += [
        ("validation", f"{item.name} ({item.mode.value}): {item.status.value}")
        for item in status.validations
    ]
    rows += _requirement_rows(status)
    if plan.parent_plan_id is not None:
        rows.append(("part of", plan.parent_plan_id))
    rows += [
        ("subplan", f"{child.name}: {child.phase.value}/{child.state.value} ({child.id})")
        for child in status.children
        if child.state is not PlanState.CANCELLED
    ]
    rows += [
        ("conflict", f"{item.conflict.path} (subplan {item.name})") for item in status.conflicts
    ]
    if status.applied is not None:
        rows += [("applied to", target.path) for target in status.applied.targets]
    if plan.cancel_reason:
        rows.append(("cancelled", plan.cancel_reason))
    if status.holder is not None:
        rows.append(("held by", str(status.holder)))
    if _is_interrupted(status):
        verb = "apply" if plan.phase is PlanPhase.APPLY else "resume"
        rows.append(("interrupted", f"run `agents plan {verb} {plan.id}` to continue"))
    if status.interrupted is not None:
        kind, operation = status.interrupted.kind.value, status.interrupted.id
        rows.append(("interrupted", f"the {kind} was not finished: {operation}"))
    sections: list[Section] = [Fields("Plan", tuple(rows))]
    following = _next(status)
    if plan.error is not None:
        sections.append(
            Fields(
                "Error",
                (
                    ("step", plan.error.step),
                    ("tool", plan.error.tool or ""),
                    *paragraph("message", plan.error.message),
                    ("failed state", plan.error.checkpoint or "not kept"),
                ),
            )
        )
    if following:
        sections.append(Commands("Next", following))
    return Report(
        plan_data(status),
        tuple(sections),
        messages + status.retention.messages,
        did_something=bool(messages),
    )


def _work_rows(plan: Plan) -> list[tuple[str, str]]:
    """Returns how far a plan file has run, or what a session runs."""
    if plan.session is None:
        done = f"{plan.last_completed_step + 1} of {len(plan.step_sequence)}"
        return [("steps done", done)]
    rows = [
        ("command", shlex.join(plan.session.command)),
        ("isolation", plan.session.isolation.value),
    ]
    if plan.session.exit_code is not None:
        rows.append(("exit code", str(plan.session.exit_code)))
    return rows


def _next(status: PlanStatus) -> tuple[tuple[str, str], ...]:
    """Returns what the user can do next, and the commands; nothing while a process works on it."""
    if status.holder is not None:
        return ()
    plan = status.plan
    place = plan.phase if plan.phase is PlanPhase.STRATEGIZE else plan.state
    acts = _NEXT.get(place, ())
    if plan.session is not None and plan.session.works_in_place:
        acts = (_LOOK, _BACK)
    if not status.checkpoints:
        acts = tuple(act for act in acts if act not in (_LOOK, _BACK))
    return tuple((reason, f"agents plan {verb} {plan.id}") for reason, verb in acts)


def _state_shown(plan: PlanSummary, activity: PlanActivity) -> str:
    return "interrupted" if plan.id in activity.interrupted else plan.state.value


def plan_list_report(
    plans: Sequence[PlanSummary], activity: PlanActivity, filters: Mapping[str, str | None]
) -> Report:
    """The list of plans.

    Args:
        plans: The plans, oldest first.
        activity: Who works on them, and how long they have run.
        filters: What the user asked for.
    """
    states = [plan.state for plan in plans if plan.phase is not PlanPhase.STRATEGIZE]
    data: dict[str, object] = {
        "plans": [
            {
                **_PLAN.data(plan),
                **_session_data_of(plan, activity.recorders.get(plan.id)),
                "elapsed": activity.elapsed[plan.id],
                "interrupted": plan.id in activity.interrupted,
            }
            for plan in plans
        ],
        "filters": dict(filters),
        "summary": {
            "total": len(plans),
            "processing": states.count(PlanState.PROCESSING),
            "completed": states.count(PlanState.COMPLETE),
            "errored": states.count(PlanState.ERRORED),
        },
    }
    projects = {plan.project for plan in plans}
    several = len(projects) > 1
    states_shown = tuple(f"{it.phase.value}/{_state_shown(it, activity)}" for it in plans)
    lines = (
        _PLAN.column("Plan", plans),
        _PLAN.column("Name", plans, cut="end"),
        Column("State", states_shown),
        *((_PLAN.column("Project", plans, cut="start"),) if several else ()),
        times("Created", [plan.created_at for plan in plans], seconds=False),
    )
    table = _PLAN.table(
        "Plans" if several or not plans else f"Plans of {plans[0].project}",
        plans,
        (
            *("Plan", "Name", "Phase"),
            Field("state", "State", lambda it: _state_shown(it, activity)),
            *("Project", "Created (UTC)"),
        ),
        empty=_NO_MATCHES if any(filters.values()) else _NO_PLANS,
        lines=lines,
    )
    return Report(data, (table,))


def _progress(plan: Plan) -> dict[str, str]:
    """Returns the status of each phase: complete, the plan's own state, or pending."""
    phases = list(PlanPhase)
    at = phases.index(plan.phase)
    return {
        phase.value.capitalize(): "complete"
        if position < at
        else plan.state.value
        if position == at
        else "pending"
        for position, phase in enumerate(phases)
    }
