"""The rounds on one tree: every technique in turn, in another order each time.

Each technique has a checkout of its own, made and changed alike, so that none
pays for or profits from what another did to the files. Before the change that
is measured the disk is brought to rest, so that none pays for another's writes.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.compare.copies import Copy, LinkedCopy
from benchmarks.compare.judging import fastest
from benchmarks.compare.ours import Ours, OursInNewProcess, OursInView
from benchmarks.compare.peers import (
    Cline,
    CodexGhostCommit,
    GeminiCli,
    KeptIndex,
    MonitoredIndex,
    OpenCode,
    OpenCodeEarlier,
)
from benchmarks.compare.results import OnTree, Role, Scenario, Tree
from benchmarks.compare.session_tools import Snapback, Stepback
from benchmarks.compare.subject import Subject
from benchmarks.compare.technique import NotAvailable, Technique
from benchmarks.compare.trees import Editor, make_project
from cleveragents.domain.errors import CleverAgentsError

TECHNIQUES: tuple[type[Technique], ...] = (
    *(Ours, OursInNewProcess, OursInView, KeptIndex, MonitoredIndex),
    *(Cline, GeminiCli, OpenCode, OpenCodeEarlier, CodexGhostCommit),
    *(Stepback, Snapback, Copy, LinkedCopy),
)
_FAILURES = (CleverAgentsError, NotAvailable, OSError, subprocess.CalledProcessError)
MANY = 5_000
FIRST_ROUNDS = 3
"""At most; each needs everything made anew."""

Say = Callable[[str], None]
Act = Callable[[Subject], None]


def compare_on(tree: Tree, place: Path, rounds: int, say: Say) -> tuple[OnTree, list[str]]:
    """Measures every technique on trees of that size; returns also what could not be measured."""
    say(f"{tree}: making the checkouts")
    project = place / "project"
    make_project(project, tree)
    subjects, missing = _subjects(tree, place, project)
    rota = _Rota(subjects, random.Random(tree.files), say)
    try:
        for number in range(min((rounds + 1) // 2, FIRST_ROUNDS)):
            say(f"{tree}: first snapshots {number + 1}")
            rota.turn(Scenario.FIRST, Subject.take_first)
        for number in range(rounds):
            say(f"{tree}: round {number + 1} of {rounds}")
            for scenario, act in _ACTS.items():
                rota.turn(scenario, act)
            rota.turn(None, _roll_back)
    finally:
        for subject in subjects:
            subject.close()
    return _result(tree, subjects), missing


class _Rota:
    """Gives every technique its turn, in another order each time."""

    def __init__(self, subjects: list[Subject], chance: random.Random, say: Say) -> None:
        self._present = list(subjects)
        self._chance = chance
        self._say = say

    def turn(self, scenario: Scenario | None, act: Act) -> None:
        """Has all do it but those that had enough; one that fails is out from then on."""
        best = _fastest(self._present, scenario)
        for subject in self._chance.sample(self._present, len(self._present)):
            if scenario is not None and subject.has_had_enough(scenario, best):
                continue
            try:
                act(subject)
            except _FAILURES as error:
                name = subject.give_up(scenario or "plan rollback")
                self._say(f"{name} failed: {error}")
                self._present.remove(subject)


def _fastest(subjects: Sequence[Subject], scenario: Scenario | None) -> float:
    """Returns the best median so far of the others that do not watch."""
    others = [one.result() for one in subjects if one.technique.role is Role.PEER]
    timed = fastest([one for one in others if not one.watches], scenario) if scenario else None
    return timed[1] if timed else 0.0


def _subjects(tree: Tree, place: Path, project: Path) -> tuple[list[Subject], list[str]]:
    subjects: list[Subject] = []
    missing: list[str] = []
    for kind in TECHNIQUES:
        if kind.takes_at_most and tree.files + tree.ignored > kind.takes_at_most:
            missing.append(f"{kind.name}, {tree}: it would take minutes for each snapshot")
            continue
        try:
            subjects.append(Subject(kind, place, project, tree))
        except NotAvailable as error:
            missing.append(f"{kind.name}: {error}")
    return subjects, missing


def _edit_one(editor: Editor) -> None:
    editor.edit(1)


def _disturb_many(editor: Editor) -> None:
    editor.disturb(MANY)


def _roll_back(subject: Subject) -> None:
    if subject.technique.role is Role.NEW_PROCESS:
        subject.roll_back(_edit_one)


_ACTS: dict[Scenario, Act] = {
    Scenario.NOTHING: lambda one: one.take(Scenario.NOTHING, 0),
    Scenario.ONE: lambda one: one.take(Scenario.ONE, 1),
    Scenario.HUNDRED: lambda one: one.take(Scenario.HUNDRED, 100),
    Scenario.RESTORE_ONE: lambda one: one.bring_back(Scenario.RESTORE_ONE, _edit_one),
    Scenario.RESTORE_MANY: lambda one: one.bring_back(Scenario.RESTORE_MANY, _disturb_many),
}


def _result(tree: Tree, subjects: list[Subject]) -> OnTree:
    new = [one for one in subjects if one.technique.role is Role.NEW_PROCESS]
    return OnTree(
        tree,
        [subject.result() for subject in subjects],
        rollback=[seconds for one in new for seconds in one.rollback],
        closing=[seconds for one in new for seconds in one.closing],
    )
