"""The decisions of a plan, as a tree and one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cleveragents.application.services.decision_service import DecisionTree, Explanation
from cleveragents.domain.decision import Decision, DecisionType
from cleveragents.reports.report import Fields, Report, Section, Table
from cleveragents.reports.words import counted, moment, readable


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
        "child_plans": [
            {
                "id": child.id,
                "name": child.name,
                "phase": child.phase.value,
                "state": child.state.value,
                "parent_plan_id": child.parent_plan_id,
                "spawn_decision_id": child.spawn_decision_id,
            }
            for child in tree.children
        ],
        "decision_ids": {
            "root": tree.plan.decision_root_id,
            "all": [decision.id for decision in tree.decisions],
        },
    }
    rows = tuple(
        (
            "  " * (level - 1) + decision.question,
            decision.chosen_option + (" (superseded)" if decision.superseded_by else ""),
            decision.decision_type.value,
            decision.id,
        )
        for level, decision in _walk(roots, tree.decisions, 1)
    )
    sections: list[Section] = [
        Table("Decisions", ("Question", "Chosen", "Type", "Decision"), rows),
    ]
    if tree.children:
        sections.append(
            Table(
                "Child plans",
                ("Name", "Phase", "State", "Plan"),
                tuple(
                    (child.name, child.phase.value, child.state.value, child.id)
                    for child in tree.children
                ),
            )
        )
    hidden = tree.superseded - sum(1 for item in tree.decisions if item.superseded_by)
    messages = (f"{counted(hidden, 'superseded decision')} not shown",) if hidden else ()
    return Report(data, tuple(sections), messages)


def explain_report(explanation: Explanation, *, show_context: bool) -> Report:
    decision = explanation.decision
    names = list(dict.fromkeys([*decision.alternatives_considered, decision.chosen_option]))
    alternatives = [
        {
            "index": index,
            "name": name,
            "description": explanation.options.get(name) or name,
            "chosen": name == decision.chosen_option,
        }
        for index, name in enumerate(names, 1)
    ]
    checkpoint = explanation.checkpoint
    hint = _correction_hint(explanation)
    data: dict[str, object] = {
        "decision_id": decision.id,
        "plan_id": decision.plan_id,
        "parent_decision_id": decision.parent_id,
        "type": decision.decision_type.value,
        "question": decision.question,
        "chosen": decision.chosen_option,
        "confidence": decision.confidence,
        "sequence": f"{explanation.position} of {explanation.of}",
        "step_index": decision.step_index,
        "created": moment(decision.created_at),
        "alternatives": alternatives,
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
    rows = [
        ("Decision", decision.id),
        ("Question", decision.question),
        ("Chosen", decision.chosen_option),
        ("Why", decision.rationale or "not said"),
        ("Type", decision.decision_type.value),
        ("Made (UTC)", readable(decision.created_at)),
        ("Checkpoint", checkpoint.id if checkpoint else "none"),
        ("Hangs on it", _impact(explanation)),
    ]
    if decision.confidence is not None:
        rows.insert(4, ("Confidence", f"{decision.confidence:g}"))
    if decision.superseded_by is not None:
        rows.append(("Superseded by", decision.superseded_by))
    if hint:
        rows.append(("Go back there", hint))
    sections: list[Section] = [Fields("Decision", tuple(rows))]
    if names:
        sections.append(
            Table(
                "Alternatives",
                ("Option", "Description", "Chosen"),
                tuple(
                    (
                        name,
                        explanation.options.get(name, ""),
                        "yes" if name == decision.chosen_option else "",
                    )
                    for name in names
                ),
            )
        )
    if show_context:
        known = tuple((key, str(value)) for key, value in decision.context_snapshot.items())
        sections.append(Fields("Context", known))
    return Report(data, tuple(sections))


def _node(decision: Decision, decisions: Sequence[Decision]) -> dict[str, object]:
    return {
        "decision_id": decision.id,
        "type": decision.decision_type.value,
        "question": decision.question,
        "chosen": decision.chosen_option,
        "description": f"{decision.question} {decision.chosen_option}",
        "confidence": decision.confidence,
        "step_index": decision.step_index,
        "superseded_by": decision.superseded_by,
        "child_plan_ids": list(decision.downstream_plan_ids),
        "children": [_node(child, decisions) for child in _below(decision.id, decisions)],
    }


def _below(parent_id: str | None, decisions: Sequence[Decision]) -> list[Decision]:
    """Returns the decisions under one; those whose parent is not shown stand under the root."""
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


def _correction_hint(explanation: Explanation) -> str | None:
    if explanation.checkpoint is None or explanation.decision.superseded_by is not None:
        return None
    return f"agents plan rollback {explanation.plan.id} {explanation.checkpoint.id}"
