"""How `agents doctor` reports plans that are on disk and not in the database."""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.domain.health.health import Check, CheckStatus, check
from cleveragents.domain.plans.origin import FoundPlan
from cleveragents.domain.wording import counted, listed, size

_NAME = "quarantine"
_ADOPT = "Run `agents doctor --adopt` to make records for them"
_OLDER = "The database is older than the mirrors: snapshots that it does not know are kept"
_FORSAKE = "Remove what you do not need from the home directory by hand"


def judge_unknown(found: Sequence[FoundPlan], *, doubted: bool) -> Check:
    """Names plans that the database does not know.

    Args:
        found: What is on disk of them.
        doubted: Whether the database is known to be older than the mirrors.
    """
    if not found and not doubted:
        return check(_NAME, CheckStatus.OK, "The database knows every plan that is on disk")
    told = [_OLDER] if doubted else []
    if found:
        told.append(f"Not in the database, and kept: {listed([_told(plan) for plan in found])}")
    can = doubted or any(plan.obstacle is None for plan in found)
    hint = _ADOPT if can else _FORSAKE
    plans = [_details(plan, plan.obstacle) for plan in found]
    return check(_NAME, CheckStatus.WARNING, "; ".join(told), hint, plans=plans, doubted=doubted)


def judge_adopted(adopted: Sequence[FoundPlan], left: Sequence[tuple[FoundPlan, str]]) -> Check:
    """Says what was adopted.

    Args:
        adopted: The plans that have records now.
        left: Those that could not be adopted, and why.
    """
    if not adopted and not left:
        return check(_NAME, CheckStatus.OK, "The database knows every plan that is on disk")
    told: list[str] = []
    if adopted:
        told.append(f"Adopted {listed([_told(plan) for plan in adopted])}")
    if left:
        reasons = [f"{_told(plan)}: {reason}" for plan, reason in left]
        told.append(f"Not adopted, and kept: {listed(reasons)}")
    return check(
        _NAME,
        CheckStatus.WARNING if left else CheckStatus.FIXED,
        "; ".join(told),
        _FORSAKE if left else "Review each with `agents plan diff PLAN` before you apply it",
        plans=[_details(plan, reason) for plan, reason in left],
        adopted=[_details(plan, None) for plan in adopted],
    )


def _told(plan: FoundPlan) -> str:
    """Names a plan with what a user needs to recognize it."""
    facts = [plan.project or "project unknown", size(plan.size_bytes)]
    facts.append(counted(plan.snapshots, "snapshot"))
    if plan.changed_at is not None:
        facts.append(f"last changed {plan.changed_at:%Y-%m-%d %H:%M} UTC")
    name = "" if plan.name == plan.plan_id else f" {plan.name}"
    return f"{plan.plan_id}{name} ({', '.join(facts)})"


def _details(plan: FoundPlan, obstacle: str | None) -> dict[str, object]:
    return {
        "plan_id": plan.plan_id,
        "name": plan.name,
        "project": plan.project,
        "size_bytes": plan.size_bytes,
        "snapshots": plan.snapshots,
        "changed_at": plan.changed_at.isoformat() if plan.changed_at is not None else None,
        "sandboxes": [item.path for item in plan.sandboxes if item.is_there],
        "obstacle": obstacle,
    }
