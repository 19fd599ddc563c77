"""Whatever is done to a plan, in whatever order, it is where a simple model says it must be.

The plan and its services are real, in a real home directory. Each act is done to the plan and
to the model, and then everything is compared: files, database, the plan's position, decisions,
tool calls, checkpoints; and the project, which no act may touch.
"""

from __future__ import annotations

import unittest
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, ClassVar, NamedTuple

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from cleveragents.application.services.correction_service import AppendRequest
from cleveragents.application.services.rollback.history import next_entry
from cleveragents.application.services.rollback.intents import RollbackToCheckpoint, UndoRedo
from cleveragents.domain.checkpoints.operation import OperationKind, RollbackPreview, RollbackResult
from cleveragents.domain.errors import (
    BusinessRuleViolation,
    ExecutionError,
    InterruptedByUserError,
    SnapshotError,
    UsageError,
)
from cleveragents.testing.trees import differing, read_tree
from cleveragents.testing.workspace import single_acts
from property_tests.hand_edits import Edit, edit, edits
from property_tests.observed_plan import Seen, contents_of, look_at, rows_of
from property_tests.operation_model import MANUAL, ROOT, Decision, Model, Script, State, Way
from property_tests.operation_stage import Conductor, Cut, Stage
from property_tests.predicted_run import INTENT_RECORDED, STEP_ENDED, TOOL_ENDED, PredictedRun, Stop
from property_tests.scripted_plan import BASE, WORK, scripted_steps


class Disturbance(NamedTuple):
    """What goes wrong in an operation."""

    point: str
    number: int
    act: str


LIMITS = (50, 50, 12, 6, 3, 2, 1)
TRIGGERS = (
    frozenset({"before_tool_execute", "after_tool_execute", "on_error"}),
    frozenset({"before_tool_execute", "after_tool_execute", "on_error"}),
    frozenset({"before_step", "after_step", "on_error"}),
    frozenset[str](),
)
DISTURBANCES = (
    Disturbance("present-state-saved", 1, "fail"),
    Disturbance("resource-restored", 1, "fail"),
    Disturbance("resource-restored", 2, "fail"),
    Disturbance("resource-restored", 1, "cut"),
    Disturbance("rollback-journaled", 1, "cut"),
    Disturbance("rollback-recorded", 1, "fail"),
)

numbers = st.integers(0, 60)
stops = st.one_of(
    st.none(),
    st.builds(Stop, st.just(STEP_ENDED), st.integers(1, 9)),
    st.builds(Stop, st.sampled_from((INTENT_RECORDED, TOOL_ENDED)), st.integers(1, 9)),
)
options = st.one_of(st.none(), st.integers(0, 3))
some_edits = st.one_of(st.just(list[Edit]()), edits())
disturbances = st.one_of(st.none(), st.none(), st.none(), st.sampled_from(DISTURBANCES))


class OperationsMachine(RuleBasedStateMachine):
    """A user with a plan: runs, edits, goes back and forth, and decides anew."""

    stage: ClassVar[Stage]

    def __init__(self) -> None:
        super().__init__()
        self.conductor = Conductor()
        self.limit = 50

    @initialize(
        with_git=st.sampled_from((False, False, True)),
        with_base=st.booleans(),
        influenced=st.booleans(),
        policy=st.sampled_from(("rollback-step", "rollback-step", "rollback-plan", "keep")),
        triggers=st.sampled_from(TRIGGERS),
        stop=stops,
    )
    def begin(
        self,
        with_git: bool,
        with_base: bool,
        influenced: bool,
        policy: str,
        triggers: frozenset[str],
        stop: Stop | None,
    ) -> None:
        steps = scripted_steps(with_base=with_base, influenced=influenced)
        script = Script(steps, policy, triggers)
        projects = self.stage.projects
        project = projects / ("repository" if with_git else "files")
        self.container = self.stage.container(self.conductor, script, self.limit)
        file = self.stage.write_plan(script, with_git=with_git, with_base=with_base)
        self.plan_id = self.container.plan_service().use(file, project, {}).id
        base = {BASE: rows_of(projects / "base.db")} if with_base else {}
        self.model = Model(
            script,
            State(
                files={WORK: read_tree(project), **base},
                phase="strategize",
                state="complete",
                attempt=1,
                done=-1,
                choices=script.choices,
                last=None,
                visible=frozenset(),
                calls=frozenset(),
                decisions=frozenset(),
                children={},
            ),
        )
        self.model.add_decision(Decision(None, "local/scripted", question="What should be done?"))
        self._run(stop)

    def teardown(self) -> None:
        if hasattr(self, "container"):
            self.container.close()

    # What the user does

    @rule(todo=some_edits, stop=stops, resuming=st.booleans(), anew=st.booleans())
    def edit_and_run(self, todo: list[Edit], stop: Stop | None, resuming: bool, anew: bool) -> None:
        self._begin_process(anew=anew)
        self._edit(todo)
        if self._is("complete"):
            self._going(resuming=False)()
            self._refused(self._going(resuming=True))
        elif not self._is("cancelled"):
            self._run(stop, resuming=resuming)

    @rule(which=numbers, todo=some_edits, stop=stops, anew=st.booleans())
    def roll_back_and_run(
        self, which: int, todo: list[Edit], stop: Stop | None, anew: bool
    ) -> None:
        self.roll_back(which, None, anew=anew)
        self.everything_is_as_predicted()
        self.edit_and_run(todo, stop, resuming=False, anew=anew)

    @rule(which=numbers, option=options, todo=some_edits, stop=stops, anew=st.booleans())
    def correct_and_run(
        self, which: int, option: int | None, todo: list[Edit], stop: Stop | None, anew: bool
    ) -> None:
        self.correct(which, option, None, anew=anew)
        self.everything_is_as_predicted()
        self.edit_and_run(todo, stop, resuming=False, anew=anew)

    @rule(todo=edits(), labelled=st.integers(0, 3))
    def edit_by_hand(self, todo: list[Edit], labelled: int) -> None:
        self._edit(todo)
        if labelled:
            label = f"mine {labelled}"
            self.container.checkpoint_service().create_manual_checkpoint(self.plan_id, label)
            self.model.add_group(label, MANUAL, step=max(self.model.present.done, 0))

    @rule(which=numbers, disturbed=disturbances, anew=st.booleans())
    def roll_back(self, which: int, disturbed: Disturbance | None, anew: bool) -> None:
        self._begin_process(anew=anew)
        checkpoint = self.seen.checkpoints[which % len(self.seen.checkpoints)]
        service = self.container.checkpoint_service()
        way = self.model.way_to(self.seen.number_of(checkpoint))
        procedure = self.container.rollback_procedure()
        preview = procedure.preview(self.plan_id, RollbackToCheckpoint(checkpoint))
        self._operate(
            way,
            preview,
            lambda: service.rollback_to_checkpoint(self.plan_id, checkpoint),
            disturbed,
        )

    @precondition(lambda self: self.model.to_undo or self.model.last_group % 5 == 0)
    @rule(disturbed=disturbances, anew=st.booleans())
    def undo(self, disturbed: Disturbance | None, anew: bool) -> None:
        self._take_back("undo", disturbed, anew=anew)

    @precondition(lambda self: self.model.to_redo or self.model.last_group % 5 == 0)
    @rule(disturbed=disturbances, anew=st.booleans())
    def redo(self, disturbed: Disturbance | None, anew: bool) -> None:
        self._take_back("redo", disturbed, anew=anew)

    @rule(
        which=numbers,
        option=options,
        disturbed=disturbances,
        anew=st.booleans(),
    )
    def correct(
        self, which: int, option: int | None, disturbed: Disturbance | None, anew: bool
    ) -> None:
        self._begin_process(anew=anew)
        number = self._decision(which)
        choose = None if option is None else self._option(number, option)
        decision = self.container.decision_service().find(self.seen.decision_ids[number])
        service = self.container.correction_service()
        way = self.model.way_before(number, choose, "think again")
        if way is None:
            self._refused(lambda: service.preview(decision, "think again", choose))
            return self._refused(lambda: service.revert(decision, "think again", choose))
        preview = service.preview(decision, "think again", choose)
        assert {item.sequence for item in preview.affected} == self.model.fallen_with(number)
        self._operate(
            way,
            preview.rollback,
            lambda: service.revert(decision, "think again", choose).rollback,
            disturbed,
        )

    @rule(which=numbers)
    def append(self, which: int) -> None:
        number, model = self._decision(which), self.model
        decision = self.container.decision_service().find(self.seen.decision_ids[number])
        service = self.container.correction_service()
        if number not in model.present.decisions:
            self._refused(lambda: service.append(AppendRequest(decision, "do more")))
            return
        service.append(AppendRequest(decision, "do more"))
        known = model.decisions[number]
        model.add_decision(Decision(known.parent or ROOT, "do more", question=known.question))
        question = f"What else should be done about: {known.question}"
        spawn = model.add_decision(Decision(number, "do more", question=question))
        model.change(children={**model.present.children, spawn: "queued"})

    @rule(limit=st.sampled_from(LIMITS), at_once=st.booleans())
    def change_the_limit(self, limit: int, at_once: bool) -> None:
        self.limit = self.model.limit = limit
        self._begin_process(anew=True)
        if at_once:
            pruned = self.container.checkpoint_service().prune_checkpoints(self.plan_id)
            assert pruned == self.model.prune()

    @precondition(lambda self: self.model.last_group % 4 == 0 and not self._is("cancelled"))
    @rule()
    def cancel(self) -> None:
        """Seldom, for only an operation leads on from there."""
        service = self.container.plan_service()
        service.cancel(self.plan_id, "enough")
        self.model.change(
            state="cancelled",
            cancelled_because="enough",
            children=dict.fromkeys(self.model.present.children, "cancelled"),
        )
        self._refused(lambda: service.cancel(self.plan_id, "again"))
        self._refused(self._going(resuming=False))
        self._refused(self._going(resuming=True))

    # How it is done, and what must be true afterwards

    def _is(self, state: str) -> bool:
        return self.model.present.state == state

    def _begin_process(self, *, anew: bool) -> None:
        if anew:
            self.container.close()
            self.container = self.stage.container(self.conductor, self.model.script, self.limit)

    def _edit(self, todo: list[Edit]) -> None:
        sandboxes = {item.resource: item for item in self.seen.sandboxes}
        for each in todo:
            edit(sandboxes, each)
        self.model.change(files=contents_of(self.seen.sandboxes))

    def _take_back(self, kind: str, disturbed: Disturbance | None, *, anew: bool) -> None:
        self._begin_process(anew=anew)
        procedure, intent = self.container.rollback_procedure(), UndoRedo(OperationKind(kind))
        with self.container.database().read() as transaction:
            plan = transaction.plans.get(self.plan_id)
            entry = next_entry(transaction, plan, OperationKind(kind))
        if entry is not None and entry.operation is None:
            return  # A step comes first. The model knows how operations are undone, not steps.
        way = self.model.way_back(kind)
        if way is None:
            self._refused(lambda: procedure.preview(self.plan_id, intent))
            return self._refused(lambda: procedure.run(self.plan_id, intent))
        preview = procedure.preview(self.plan_id, intent)
        self._operate(way, preview, lambda: procedure.run(self.plan_id, intent), disturbed)

    def _going(self, *, resuming: bool) -> Callable[[], object]:
        if resuming:
            service = self.container.plan_resume_service()
            return lambda: service.resume(self.plan_id, repeat_effects=False)
        return lambda: self.container.plan_executor().execute(self.plan_id)

    def _run(self, stop: Stop | None, *, resuming: bool = False) -> None:
        if stop is not None:
            self.conductor.at(*stop, "ask" if stop.point == STEP_ENDED else "cut")
        try:
            self._going(resuming=resuming)()
            ended = "complete"
        except (InterruptedByUserError, Cut):
            ended = "stopped"
        except ExecutionError:
            ended = "errored"
        finally:
            self.conductor.rest()
        predicted = PredictedRun(self.model, stop).go()
        assert ended == predicted, (ended, predicted)
        self._learn_questions()

    def _learn_questions(self) -> None:
        """What is said about a failure is up to the tool."""
        seen = self._look().decisions
        for number, decision in self.model.decisions.items():
            if decision.step is not None:
                question = seen[number].question
                self.model.decisions[number] = replace(decision, question=question)

    def _operate(
        self,
        way: Way,
        preview: RollbackPreview,
        act: Callable[[], RollbackResult],
        disturbed: Disturbance | None,
    ) -> None:
        result = None
        if disturbed is not None:
            self.conductor.at(*disturbed)
        try:
            result = act()
        except (SnapshotError, Cut):
            assert disturbed is not None
        is_disturbed = self.conductor.rest()
        if is_disturbed and disturbed and disturbed.point == "rollback-journaled":
            self._begin_process(anew=True)
            ended = self.container.recovery().finish(self.plan_id)
            assert ended is not None and ended.completed, ended
        undone = disturbed is not None and is_disturbed and disturbed.point.startswith("res")
        begun = not (is_disturbed and disturbed and disturbed.point.startswith("present"))
        safety = self.model.save(way)
        if way.kind == "correction" and begun:
            self.model.archives.add(safety)
        if begun and not undone:
            self.model.arrive(way, safety)
        if result is not None:
            self._told_the_truth(preview, result)

    def _told_the_truth(self, preview: RollbackPreview, result: RollbackResult) -> None:
        before, after = self.seen, self._look()
        assert result.verified
        assert result.changes == preview.changes
        assert (result.phase, result.state) == (preview.phase, preview.state)
        assert result.decisions_discarded == preview.decisions_after
        assert result.tool_calls_undone == preview.tool_calls_after
        assert result.child_plans_invalidated == preview.child_plans_after
        assert result.tool_calls_undone == len(before.state.calls - after.state.calls)
        assert result.tool_calls_brought_back == len(after.state.calls - before.state.calls)
        assert result.decisions_discarded == len(before.state.decisions - after.state.decisions)
        assert result.checkpoints_remaining == len(after.visible)
        if len(after.groups) > len(before.groups):  # None was pruned.
            assert preview.checkpoints_after == len({*before.visible} - {*after.visible})
            # A preview does not look how many resources the safety group will have a row for.
            more = result.checkpoints_remaining - preview.checkpoints_remaining
            assert 0 <= more < len(after.sandboxes), more

    def _refused(self, act: Callable[[], Any]) -> None:
        """Nothing at all is other than it was."""
        before = self._look()
        try:
            act()
        except (BusinessRuleViolation, UsageError):
            assert self._look() == before
        else:
            raise AssertionError("it was to be refused")

    def _look(self) -> Seen:
        return look_at(self.container.database(), self.plan_id)

    def _decision(self, which: int) -> int:
        """One of those that stand, mostly."""
        some = self.model.decisions if which % 6 == 5 else self.model.present.decisions
        return sorted(some)[which % len(some)]

    def _option(self, number: int, option: int) -> str:
        place = self.model.decisions[number].place
        steps = {item.place: item.step for item in self.model.script.course(self.model.present)}
        fork = steps[place].fork if place in steps else None
        names = [*(fork.options if fork else ()), "nonsense"]
        return names[option % len(names)]

    @invariant()
    def everything_is_as_predicted(self) -> None:
        self._follows_the_model()
        self._every_step_is_in_effect_once()
        assert self.seen.state.last in self.seen.state.visible
        assert not self.seen.is_something_pending
        self._what_is_kept_is_whole()
        now = self.stage.look_at_projects()
        assert not differing(self.stage.untouched, now), differing(self.stage.untouched, now)

    def _follows_the_model(self) -> None:
        self.seen = self._look()
        seen, model = self.seen, self.model
        visible = model.present.visible & model.groups.keys()
        _same_state(seen.state, replace(model.present, visible=visible))
        _same(seen.decisions, model.decisions)
        _same(seen.steps, {number: model.step_of(number) for number in model.present.decisions})
        _same(seen.calls, model.calls)
        _same(
            seen.groups,
            {
                number: (each.label, each.kind, each.trigger, each.step, each.decision)
                for number, each in model.groups.items()
            },
        )

    def _every_step_is_in_effect_once(self) -> None:
        done = [
            call.step
            for number, call in sorted(self.seen.calls.items())
            if number in self.seen.state.calls and call.status == "succeeded"
        ]
        assert done == list(range(self.seen.state.done + 1)), done

    def _what_is_kept_is_whole(self) -> None:
        manager = self.container.checkpoint_manager()
        for sandbox in self.seen.sandboxes:
            named = {group.snapshots[sandbox.resource_id] for group in self.seen.records}
            assert named <= {*single_acts(manager, sandbox).ids()}
        chosen = self.seen.records[len(self.seen.calls) * 7 % len(self.seen.records)]
        for sandbox in self.seen.sandboxes:
            single_acts(manager, sandbox).verify(chosen.snapshots[sandbox.resource_id])


def _same_state(seen: State, wanted: State) -> None:
    for resource, tree in wanted.files.items():
        paths = differing(seen.files[resource], tree)
        found = [(path, seen.files[resource].get(path), tree.get(path)) for path in paths]
        assert not found, (resource, found)
    for each in fields(State):
        now, then = getattr(seen, each.name), getattr(wanted, each.name)
        assert now == then, f"{each.name} is {now} and should be {then}"


def _same(seen: dict[int, Any], wanted: dict[int, Any]) -> None:
    differences = {
        number: (seen.get(number), wanted.get(number))
        for number in sorted(seen.keys() | wanted.keys())
        if seen.get(number) != wanted.get(number)
    }
    assert not differences, f"what is and what should be: {differences}"


class Operations(OperationsMachine.TestCase):
    settings = settings(
        max_examples=2_000 if settings().max_examples > 1_000 else 60,
        stateful_step_count=30 if settings().max_examples > 1_000 else 15,
    )

    @classmethod
    def setUpClass(cls) -> None:
        OperationsMachine.stage = Stage()

    @classmethod
    def tearDownClass(cls) -> None:
        OperationsMachine.stage.close()


if __name__ == "__main__":
    unittest.main()
