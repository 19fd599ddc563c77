"""What a plan, its files and its records must be: plain Python, without any of the real code.

Groups, tool calls and decisions of a plan are numbered from 1, so they are named by number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from property_tests.scripted_plan import Contents, Place, Step, course, first_choices

SAFETY, MANUAL, DECISION, AUTOMATIC = "safety", "manual", "decision", "automatic"
PRE_EXECUTE, POST_EXECUTE, ON_ERROR = "pre_execute", "post_execute", "on_error"
ROOT = 1
"""The decision that says what is to be done."""


@dataclass(frozen=True)
class State:
    """Everything that undo brings back."""

    files: Contents
    phase: str
    state: str
    attempt: int
    done: int
    """The last step that is done; -1 before the first."""
    choices: Mapping[str, str]
    last: int | None
    """The group the plan is at."""
    visible: frozenset[int]
    calls: frozenset[int]
    decisions: frozenset[int]
    children: Mapping[int, str]
    """The state of every child plan, by the decision it came from."""
    failed_at: int | None = None
    cancelled_because: str | None = None
    finished: bool = False


@dataclass(frozen=True)
class Group:
    """A checkpoint group, and everything as it was when it was made."""

    number: int
    label: str
    kind: str
    trigger: str
    step: int
    state: State
    decision: int | None = None

    @property
    def serves_a_run(self) -> bool:
        """Whether a run may build on it; else it is only kept to be looked at."""
        return self.kind != SAFETY and self.trigger != ON_ERROR


@dataclass(frozen=True)
class Call:
    step: int
    tool: str
    status: str
    output: str | None = None
    """Only of what reads."""


@dataclass(frozen=True)
class Decision:
    parent: int | None
    chosen: str
    place: str | None = None
    step: int | None = None
    """For what was decided in a step that is no decision itself."""
    influences: frozenset[int] = frozenset()
    question: str = ""


@dataclass(frozen=True)
class Saved:
    """What an operation can be taken back to."""

    state: State
    note: str
    needed: frozenset[int]
    """The groups without which that would not be what it was."""


@dataclass(frozen=True)
class Way:
    """Where an operation leads."""

    kind: str
    note: str
    target: int
    after: State
    decided: Decision | None = None


@dataclass
class Script:
    """What the plan file says."""

    steps: Sequence[Step]
    policy: str
    triggers: frozenset[str]

    @property
    def choices(self) -> dict[str, str]:
        return first_choices(self.steps)

    def course(self, state: State) -> list[Place]:
        return course(self.steps, state.choices)


@dataclass
class Model:
    """The plan as it must be."""

    script: Script
    present: State
    groups: dict[int, Group] = field(default_factory=dict[int, Group])
    """Those that are kept."""
    calls: dict[int, Call] = field(default_factory=dict[int, Call])
    decisions: dict[int, Decision] = field(default_factory=dict[int, Decision])
    to_undo: list[Saved] = field(default_factory=list[Saved])
    to_redo: list[Saved] = field(default_factory=list[Saved])
    archives: set[int] = field(default_factory=set[int])
    """What corrections took away."""
    last_group: int = 0
    limit: int = 50

    def add_group(
        self,
        label: str,
        kind: str,
        trigger: str | None = None,
        *,
        step: int = 0,
        decision: int | None = None,
        then: State | None = None,
    ) -> int:
        """Adds a group of the present, or of a moment that has passed.

        The plan is at it then, unless it only keeps something.
        """
        self.last_group += 1
        number = self.last_group
        self.change(visible=self.present.visible | {number})
        state = self.present if then is None else replace(then, visible=then.visible | {number})
        self.groups[number] = Group(number, label, kind, trigger or kind, step, state, decision)
        if kind != SAFETY:
            self.change(last=number)
            self.prune()
        return number

    def prune(self) -> int:
        """Drops the oldest states beyond the limit, and returns how many groups they had."""
        counted = [number for number in sorted(self.groups) if self.groups[number].kind != SAFETY]
        ends = {*counted[-1:], *(counted[:1] if self.limit > 1 else ())}
        stay = self.must_stay() | ends
        states: list[tuple[Contents, list[int]]] = []
        for number in counted:
            files = self.groups[number].state.files
            same = [item for item in states if item[0] == files]
            states = [item for item in states if item[0] != files]
            states.append((files, [*(same[0][1] if same else ()), number]))
        droppable = [members for _, members in states if not stay & {*members}]
        dropped = droppable[: max(len(states) - self.limit, 0)]
        for number in (number for members in dropped for number in members):
            del self.groups[number]
        return sum(map(len, dropped))

    def add_decision(self, decision: Decision) -> int:
        number = len(self.decisions) + 1
        self.decisions[number] = decision
        self.change(decisions=self.present.decisions | {number})
        return number

    def change(self, **what: object) -> None:
        self.present = replace(self.present, **what)

    def seen(self, state: State) -> list[Group]:
        """Returns the groups of a state that are kept, the newest first."""
        return [self.groups[number] for number in sorted(state.visible & self.groups.keys())][::-1]

    def resume_point(self, state: State) -> Group | None:
        """Returns what a run goes on from: where the plan is, or the newest before it."""
        return next(
            (
                group
                for group in self.seen(state)
                if group.serves_a_run and state.last is not None and group.number <= state.last
            ),
            None,
        )

    def start_of_run(self, state: State) -> Group | None:
        return next((group for group in self.seen(state) if group.kind == PRE_EXECUTE), None)

    def step_of(self, number: int) -> int | None:
        """Returns which step of the course a decision belongs to."""
        decision = self.decisions[number]
        if decision.place is None:
            return decision.step
        places = [item.place for item in self.script.course(self.present)]
        return places.index(decision.place)

    def fallen_with(self, number: int) -> frozenset[int]:
        """Returns the standing decisions that fall with one: below it, or resting on it."""
        fallen = {number}
        for other in sorted(self.present.decisions):  # Causes come before what they cause.
            decision = self.decisions[other]
            if fallen & {decision.parent, *decision.influences}:
                fallen.add(other)
        return frozenset(fallen - {ROOT})

    # Operations: where they lead, and going there

    def way_to(self, number: int) -> Way:
        """Returns what a rollback to a group leads to."""
        group = self.groups[number]
        is_end = group.state.done + 1 == len(self.script.course(group.state))
        after = replace(
            group.state,
            phase="execute",
            state="complete" if is_end else "queued",
            attempt=self.present.attempt,
            last=number,
            children=self._children(self.present.children, group.state.decisions),
            failed_at=None,
            cancelled_because=None,
            finished=is_end,
        )
        return Way("rollback", f"rollback to {group.label}", number, after)

    def way_back(self, kind: str) -> Way | None:
        """Returns what undo or redo leads to; None when there is nothing to take back."""
        stack = self.to_undo if kind == "undo" else self.to_redo
        if not stack:
            return None
        saved = stack[-1]
        note = saved.note.removeprefix("undo of ").removeprefix("redo of ")
        children = self._children(
            {**self.present.children, **saved.state.children}, saved.state.decisions
        )
        after = replace(saved.state, children=children)
        return Way(kind, f"{kind} of {note}", self._safety_of(saved), after)

    def way_before(self, number: int, choose: str | None, guidance: str) -> Way | None:
        """Returns what correcting a decision leads to; None when it is to be refused."""
        present, decision = self.present, self.decisions[number]
        first = self._first_step(number, choose)
        point = None if first is None else self._point_before(number, first)
        if first is None or point is None:
            return None
        choices = dict(present.choices)
        if choose is not None:
            choices[decision.place or ""] = choose
        decisions = present.decisions - self.fallen_with(number)
        after = replace(
            point.state,
            phase="strategize",
            state="queued",
            attempt=present.attempt + 1,
            done=min(point.state.done, first - 1),
            choices=choices,
            last=point.number,
            calls=frozenset(one for one in point.state.calls if self.calls[one].step < first),
            decisions=decisions,
            children=self._children(present.children, decisions),
            failed_at=None,
            cancelled_because=None,
            finished=False,
        )
        parent = ROOT if decision.parent is None else decision.parent
        decided = Decision(parent, choose or guidance, question=decision.question)
        note = f"correction of {decision.question}"
        return Way("correction", note, point.number, after, decided)

    def save(self, way: Way) -> int:
        """Keeps the present, as every operation does first."""
        step = max(self.groups[way.target].step, 0)
        return self.add_group(f"before {way.note}", SAFETY, step=step)

    def arrive(self, way: Way, safety: int) -> None:
        saved = Saved(self.present, way.note, self.needed(self.present) | {safety})
        if way.kind == "undo":
            self.to_undo.pop()
            self.to_redo.append(saved)
        elif way.kind == "redo":
            self.to_redo.pop()
            self.to_undo.append(saved)
        else:
            self.to_undo.append(saved)
            self.to_redo.clear()
        safe = frozenset(group.number for group in self.groups.values() if group.kind == SAFETY)
        self.present = replace(way.after, visible=way.after.visible | safe)
        if way.decided is not None:
            self.add_decision(way.decided)

    def needed(self, state: State) -> frozenset[int]:
        """Returns the groups that a state refers to, and that going on from it needs."""
        needed = {state.last}
        if state.state in ("processing", "errored"):
            points = [self.resume_point(state)]
            if self.script.policy == "rollback-plan":
                points.append(self.start_of_run(state))
            needed |= {point.number for point in points if point}
        return frozenset(number for number in needed if number is not None)

    def must_stay(self) -> frozenset[int]:
        """Returns the groups that no limit takes away, but for the first and the newest."""
        taking_back = (saved.needed for saved in (*self.to_undo, *self.to_redo))
        return self.needed(self.present).union(self.archives, *taking_back)

    def _safety_of(self, saved: Saved) -> int:
        return max(saved.state.visible)

    def _children(self, states: Mapping[int, str], decisions: Iterable[int]) -> Mapping[int, str]:
        standing = set(decisions)
        return {
            spawn: state if spawn in standing else "cancelled" for spawn, state in states.items()
        }

    def _first_step(self, number: int, choose: str | None) -> int | None:
        """Returns the step that a correction does anew first; None when it is to be refused."""
        decision, present = self.decisions[number], self.present
        if number not in present.decisions:
            return None
        forks = {item.place: item.step.fork for item in self.script.course(present)}
        fork = forks.get(decision.place or "")
        if choose is not None and (fork is None or choose not in fork.options):
            return None
        return 0 if number == ROOT else self.step_of(number)

    def _point_before(self, number: int, first: int) -> Group | None:
        """Returns the newest group with nothing of a decision, as far as it has the same files."""
        if (self.present.phase, self.present.state) == ("strategize", "cancelled"):
            return None
        seen = self.seen(self.present)
        own = next((group for group in seen if group.decision == number), None)
        before = [
            group
            for group in seen[::-1]
            if group.serves_a_run
            and group.state.done < first
            and (own is None or group.number < own.number)
        ]
        if number == ROOT:
            return before[0] if before else None
        if own and before and before[-1].state.files != own.state.files:
            return own
        return before[-1] if before else own
