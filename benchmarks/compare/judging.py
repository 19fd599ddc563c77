"""What may ours cost? The limits of the project, and who keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

from benchmarks.compare.results import Comparison, Measured, OnTree, Role, Scenario, Standing

SESSION_IN_PLACE = "CleverAgents, `agents run -i`"
PRIVATE_SESSION = "CleverAgents, `agents run`"
"""Both have to restore every kind of change."""

SIZES = (1_000, 10_000, 100_000)
"""The numbers of files that the columns of the limits are for."""

IN_PLAN = MappingProxyType(
    {
        Scenario.NOTHING: (0.3, 0.15, 0.05),
        Scenario.ONE: (0.6, 0.2, 0.05),
        Scenario.HUNDRED: (0.9, 0.6, 0.25),
        Scenario.RESTORE_ONE: (0.6, 0.2, 0.05),
        Scenario.RESTORE_MANY: (1.2, 1.2, 1.2),
        Scenario.FIRST: (1.5, 1.5, 1.5),
    }
)
"""The most ours may cost of the fastest technique that counts, inside a running plan."""

NEW_PROCESS = (1.5, 1.3, 1.2)
"""The same from a new process, against those that do not watch, in every scenario but the first."""

PRIVATE_VIEW = MappingProxyType(
    {Scenario.ONE: (None, None, 0.1), Scenario.RESTORE_ONE: (None, None, 0.1)}
)
"""The same in a private view: what is read there depends on what changed alone."""


OURS = (Role.IN_PLAN, Role.NEW_PROCESS, Role.PRIVATE_VIEW)


@dataclass(frozen=True)
class Judgement:
    """Ours against the fastest technique that counts, in one scenario on one tree."""

    role: Role
    scenario: Scenario
    ours: float
    fastest: str
    theirs: float
    limit: float | None

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    @property
    def kept(self) -> bool:
        return self.limit is None or self.ratio <= self.limit


def limit_of(role: Role, scenario: Scenario, files: int) -> float | None:
    """Returns the limit for trees of that size; smaller ones than the smallest have none.

    Nor has the first snapshot from a new process: a plan takes it while it runs.
    """
    column = max((index for index, size in enumerate(SIZES) if size <= files), default=None)
    if column is None or (role is Role.NEW_PROCESS and scenario is Scenario.FIRST):
        return None
    match role:
        case Role.IN_PLAN:
            return IN_PLAN[scenario][column]
        case Role.PRIVATE_VIEW:
            return PRIVATE_VIEW[scenario][column] if scenario in PRIVATE_VIEW else None
        case _:
            return NEW_PROCESS[column]


def judge(result: OnTree) -> list[Judgement]:
    """Returns a judgement wherever ours was measured and a technique that counts is beside it."""
    found: list[Judgement] = []
    for role in OURS:
        ours = result.ours(role)
        rivals = [
            peer
            for peer in result.peers
            if peer.counts and (role is Role.IN_PLAN or not peer.watches)
        ]
        for scenario in Scenario:
            median = ours.median(scenario) if ours else None
            best = fastest(rivals, scenario)
            if median is None or best is None:
                continue
            limit = limit_of(role, scenario, result.tree.files)
            found.append(Judgement(role, scenario, median, *best, limit))
    return found


def fastest(techniques: Sequence[Measured], scenario: Scenario) -> tuple[str, float] | None:
    """Returns name and median of the fastest that was measured in the scenario."""
    timed = [(each.median(scenario), each.name) for each in techniques]
    known = [(seconds, name) for seconds, name in timed if seconds is not None]
    if not known:
        return None
    seconds, name = min(known)
    return name, seconds


def failures(comparison: Comparison) -> list[str]:
    """Returns a sentence for each promise that this run saw broken."""
    found: list[str] = []
    for result in comparison.trees:
        for each in result.techniques:
            if each.role is not Role.PEER and each.standing is not Standing.EXACT:
                found.append(f"{result.tree}: {each.name} is {each.standing or 'not verified'}")
        found += [
            f"{result.tree}: {each.scenario} ({each.role}) costs {each.ratio:.2f} of "
            f"{each.fastest}, the limit is {each.limit}"
            for each in judge(result)
            if not each.kept
        ]
    found += [
        f"{each.name} does not restore {kind}: {done.failure or 'the tree differs'}"
        for each in comparison.kinds
        if each.name in (SESSION_IN_PLACE, PRIVATE_SESSION)
        for kind, done in each.kinds.items()
        if (done.back, done.again) != (Standing.EXACT, Standing.EXACT)
    ]
    found += [
        f"{check.name}: {check.measured}, the limit is {check.limit:g}"
        for check in comparison.checks
        if not check.kept
    ]
    return found
