"""The decisions of a plan: the tree of them, and one with its reasons."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cleveragents.application.services.decision_service import DecisionTree, Explanation
from cleveragents.domain.decisions.decision import Decision, DecisionType
from cleveragents.domain.plans.plan import Plan
from cleveragents.domain.wording import counted
from cleveragents.reports.described import Description, Field, shown
from cleveragents.reports.report import Commands, Fields, Report, Section, paragraph

DECISION = Description[Decision](
    Field("decision_id", "Decision", lambda it: it.id),
    Field("type", "Type", lambda it: it.decision_type),
    Field("question", "Question", lambda it: it.question),
    Field("chosen", "Chosen", lambda it: it.chosen_option),
)

_NODE = DECISION.with_fields(
    Field("description", None, lambda it: f"{it.question} {it.chosen_option}"),
    Field("confidence", None, lambda it: it.confidence),
    Field("step_index", None, lambda it: it.step_index),
    Field("superseded_by", None, lambda it: it.superseded_by),
    Field("child_plan_ids", None, lambda it: it.downstream_plan_ids),
)

_LEVEL = Description[tuple[int, Decision]](
    Field(None, "Question", lambda it: "  " * (it[0] - 1) + it[1].question),
    Field(
        None,
        "Chosen",
        lambda it: it[1].chosen_option + (" (superseded)" if it[1].superseded_by else ""),
    ),
    Field(None, "Type", lambda it: it[1].decision_type),
    Field(None, "Decision", lambda it: it[1].id),
)

_CHILD = Description[Plan](
    Field("id", "Plan", lambda it: it.id),
    Field("name", "Name", lambda it: it.name),
    Field("phase", "Phase", lambda it: it.phase),
    Field("state", "State", lambda it: it.state),
    Field("parent_plan_id", None, lambda it: it.parent_plan_id),
    Field("spawn_decision_id", None, lambda it: it.spawn_decision_id),
)


class _Option(NamedTuple):
    number: int
    name: str
    description: str
    chosen: bool


_OPTION = Description[_Option](
    Field("index", None, lambda it: it.number),
    Field("name", "Option", lambda it: it.name),
    Field(
        "description",
        "Description",
        lambda it: it.description or it.name,
        lambda it: it.description,
    ),
    Field("chosen", "Chosen", lambda it: it.chosen, lambda it: "yes" if it.chosen else ""),
)


def tree_report(tree: DecisionTree) -> Report:
    roots = _below(None, tree.decisions)
    depth = max((level for level, _ in _walk(roots, tree.decisions, 1)), default=0)
    data: dict[str, object] = {
        "plan_id": tree.plan.id,
        "tree": next((_node(root, tree.decisions) for root in roots), None),
        "summary": {
            "nodes": len(tree.decisions),
            "depth": depth,
            "child_plans": len(tree.children),
            "invariants": sum(
                item.decision_type is DecisionType.INVARIANT_ENFORCED for item in tree.decisions
            ),
            "superseded": tree.superseded,
        },
        "child_plans": _CHILD.list(tree.children),
        "decision_ids": {
            "root": tree.plan.decision_root_id,
            "all": [decision.id for decision in tree.decisions],
        },
    }
    levels = list(_walk(roots, tree.decisions, 1))
    lines = (
        _LEVEL.column("Question", levels, cut="end"),
        _LEVEL.column("Chosen", levels, cut="end"),
        _LEVEL.column("Type", levels, optional=True),
        _LEVEL.column("Decision", levels),
    )
    columns = ("Question", "Chosen", "Type", "Decision")
    sections: list[Section] = [
        _LEVEL.table(
            "Decisions", levels, columns, empty="This plan has no decisions yet.", lines=lines
        )
    ]
    if tree.children:
        sections.append(
            _CHILD.table("Child plans", tree.children, ("Name", "Phase", "State", "Plan"))
        )
    hidden = tree.superseded - sum(1 for item in tree.decisions if item.superseded_by)
    messages = (f"{counted(hidden, 'superseded decision')} not shown",) if hidden else ()
    return Report(data, tuple(sections), messages)


def explain_report(explanation: Explanation, *, show_context: bool, show_reasoning: bool) -> Report:
    decision = explanation.decision
    names = dict.fromkeys([*decision.alternatives_considered, decision.chosen_option])
    options = [
        _Option(index, name, explanation.options.get(name) or "", name == decision.chosen_option)
        for index, name in enumerate(names, 1)
    ]
    checkpoint = explanation.checkpoint
    hint = _correction_hint(explanation)
    data: dict[str, object] = {
        "decision_id": decision.id,
        "plan_id": decision.plan_id,
        "parent_decision_id": decision.parent_id,
        "type": decision.decision_type,
        "question": decision.question,
        "chosen": decision.chosen_option,
        "confidence": decision.confidence,
        "sequence": f"{explanation.position} of {explanation.of}",
        "step_index": decision.step_index,
        "created": decision.created_at,
        "alternatives": _OPTION.list(options),
        "rationale": decision.rationale,
        "impact": {
            "downstream_decisions": len(explanation.downstream),
            "downstream_child_plans": len(decision.downstream_plan_ids),
            "artifacts_produced": list(explanation.artifacts),
            "correction_impact": _impact(explanation),
        },
        "checkpoint": checkpoint.id if checkpoint else None,
        "superseded_by": decision.superseded_by,
        "is_correction": decision.is_correction,
        "correction_hint": hint,
    }
    if show_context:
        data["context_snapshot"] = decision.context_snapshot
    if show_reasoning:
        data["actor_reasoning"] = decision.actor_reasoning
    rows = [
        ("Decision", decision.id),
        ("Question", decision.question),
        ("Chosen", decision.chosen_option),
        ("Why", decision.rationale or "not given"),
        ("Type", decision.decision_type.value),
        ("Made (UTC)", shown(decision.created_at)),
        ("Checkpoint", checkpoint.id if checkpoint else "none"),
        ("Depends on it", _impact(explanation)),
    ]
    if decision.confidence is not None:
        rows.insert(4, ("Confidence", f"{decision.confidence:g}"))
    if decision.superseded_by is not None:
        rows.append(("Superseded by", decision.superseded_by))
    if show_reasoning:
        rows += paragraph("Reasoning", decision.actor_reasoning or "not given")
    sections: list[Section] = [Fields("Decision", tuple(rows))]
    if options:
        columns = ("Option", "Description", "Chosen")
        sections.append(_OPTION.table("Alternatives", options, columns))
    if show_context:
        sections.append(Fields("Context", _context(decision)))
    if hint:
        sections.append(Commands("Next", (("Change it", hint),)))
    return Report(data, tuple(sections))


def _node(decision: Decision, decisions: Sequence[Decision]) -> dict[str, object]:
    below = [_node(child, decisions) for child in _below(decision.id, decisions)]
    return {**_NODE.data(decision), "children": below}


def _below(parent_id: str | None, decisions: Sequence[Decision]) -> list[Decision]:
    """Returns the children of a decision; one whose parent is not shown belongs to the root."""
    root = decisions[0].id if decisions else None
    shown = {None, *(decision.id for decision in decisions)}
    return [
        decision
        for decision in decisions
        if (decision.parent_id if decision.parent_id in shown else root) == parent_id
    ]


def _walk(
    level: Sequence[Decision], decisions: Sequence[Decision], depth: int
) -> Iterator[tuple[int, Decision]]:
    for decision in level:
        yield depth, decision
        yield from _walk(_below(decision.id, decisions), decisions, depth + 1)


def _impact(explanation: Explanation) -> str:
    return (
        f"{counted(len(explanation.downstream), 'decision')} and "
        f"{counted(len(explanation.artifacts), 'changed path')}"
    )


def _context(decision: Decision) -> tuple[tuple[str, str], ...]:
    """Returns what was known when the decision was made, without what was not recorded."""
    known = decision.context_snapshot.items()
    return tuple((name.replace("_", " "), shown(value)) for name, value in known if value)


def _correction_hint(explanation: Explanation) -> str | None:
    """Returns the command that changes the decision; None if it cannot be changed."""
    decision = explanation.decision
    if explanation.checkpoint is None or decision.superseded_by is not None:
        return None
    others = [name for name in explanation.options if name != decision.chosen_option]
    choose = f" --choose {shlex.quote(others[0])}" if others else ""
    return f"agents plan correct {decision.id} --mode revert{choose} --guidance WHY"
