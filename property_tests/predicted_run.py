"""What a run of a scripted plan does, step by step, to the model of it."""

from __future__ import annotations

from typing import NamedTuple

from property_tests.operation_model import (
    AUTOMATIC,
    DECISION,
    ON_ERROR,
    POST_EXECUTE,
    PRE_EXECUTE,
    ROOT,
    SAFETY,
    Call,
    Decision,
    Group,
    Model,
    State,
)
from property_tests.scripted_plan import Place, Scene, StepFailure

STEP_ENDED, INTENT_RECORDED, TOOL_ENDED = "step-ended", "intent-recorded", "tool-ended"


class Stop(NamedTuple):
    """Where a run is to end before its end."""

    point: str
    """After a step as asked for, or as a killed process does in the middle of one."""
    number: int
    """The how manyth step of the run."""


class Stopped(Exception):
    """The run has come to where it is to stop."""


class PredictedRun:
    """One run; `go` takes the model to where it ends."""

    def __init__(self, model: Model, stop: Stop | None) -> None:
        self._model = model
        self._stop = stop
        self._steps = 0
        self._course: list[Place] = model.script.course(model.present)
        self._began = model.present
        """Everything when the present step began."""

    def go(self) -> str:
        """Returns how it ends: complete, errored, or stopped."""
        model = self._model
        point = self._point()
        model.change(phase="execute", state="processing", failed_at=None)
        if point is None:
            model.add_group("before execution", PRE_EXECUTE, step=self._next_or_last)
        else:
            self._go_on(point)
        try:
            if not self._run(going_on=point is not None):
                return "errored"
        except Stopped:
            return "stopped"
        model.change(state="complete", finished=True)
        model.add_group("after execution", POST_EXECUTE, step=len(self._course) - 1)
        return "complete"

    def _point(self) -> Group | None:
        present = self._model.present
        ended = present.state not in ("errored", "processing")
        return None if ended else self._model.resume_point(present)

    @property
    def _next_or_last(self) -> int:
        return min(self._model.present.done + 1, len(self._course) - 1)

    def _go_on(self, point: Group) -> None:
        if self._model.present.files != point.state.files:
            step = max(self._model.present.done, 0)
            self._model.add_group("found when going on", SAFETY, step=step)
        self._return_to(point)

    def _return_to(self, point: Group) -> None:
        """Within a run: decisions that were not made in steps stay."""
        model, then = self._model, point.state
        later = {
            number
            for number in model.present.decisions - then.decisions
            if model.decisions[number].place or model.decisions[number].step is not None
        }
        model.change(
            files=then.files,
            done=then.done,
            last=point.number,
            calls=then.calls,
            decisions=(model.present.decisions - later) | then.decisions,
        )

    def _run(self, *, going_on: bool) -> bool:
        first = self._model.present.done + 1
        if going_on and first > 0:
            self._group_around("after_step", first - 1, repeated=True)
        for index in range(first, len(self._course)):
            repeated = going_on and index == first
            self._steps += 1
            self._began = self._model.present
            self._group_around("before_step", index, repeated=repeated)
            if not self._step(index, repeated=repeated):
                return False
            self._group_around("after_step", index, repeated=repeated)
            if self._stop == (STEP_ENDED, self._steps):
                self._point_now(f"after {self._course[index].step.name}", index, None)
            self._stop_at(STEP_ENDED)
        return True

    def _step(self, index: int, *, repeated: bool) -> bool:
        model, step = self._model, self._course[index].step
        if step.writes and "before_tool_execute" in model.script.triggers:
            label = f"before {step.name}"
            self._group(label, "before_tool_execute", index, repeated=repeated)
        number = len(model.calls) + 1
        model.calls[number] = Call(index, step.tool, "started")
        model.change(calls=model.present.calls | {number})
        self._stop_at(INTENT_RECORDED)
        trees = {name: dict(tree) for name, tree in model.present.files.items()}
        scene = Scene(trees, self._outputs())
        try:
            step.effect(scene)
        except StepFailure:
            model.change(files=trees)
            model.calls[number] = Call(index, step.tool, "failed")
            self._fail(index)
            return False
        model.change(files=trees)
        self._stop_at(TOOL_ENDED)
        model.calls[number] = Call(index, step.tool, "succeeded", scene.said)
        model.change(done=index)
        if step.fork:
            self._decide(index)
        elif step.writes and "after_tool_execute" in model.script.triggers:
            self._group(f"after {step.name}", "after_tool_execute", index)
        return True

    def _outputs(self) -> dict[str, str]:
        """Returns what the calls in effect have saved."""
        calls = (self._model.calls[number] for number in sorted(self._model.present.calls))
        saved = {self._course[call.step].step.save_as: call.output for call in calls}
        return {name: output for name, output in saved.items() if name and output is not None}

    def _decide(self, index: int) -> None:
        model, (step, place, within) = self._model, self._course[index]
        assert step.fork is not None
        chosen = model.present.choices[place]
        standing = {model.decisions[one].place: one for one in sorted(model.present.decisions)}
        made = standing.get(place)
        if made is None:
            names = {item.place: item.step.name for item in self._course[:index]}
            influences = frozenset(
                one
                for where, one in standing.items()
                if where is not None and names.get(where) in step.fork.influenced_by
            )
            parent = standing[within] if within else ROOT
            question = step.fork.question
            made = model.add_decision(
                Decision(parent, chosen, place, None, influences, question=question)
            )
        model.add_group(f"decided: {step.name}", DECISION, step=index, decision=made)

    def _fail(self, index: int) -> None:
        model, policy = self._model, self._model.script.policy
        if policy == "rollback-plan":
            point = model.start_of_run(model.present)
        else:
            label = f"before {self._course[index].step.name}"
            point = self._point_now(label, index, self._began)
        if ON_ERROR in model.script.triggers:
            self._group(f"failed: {self._course[index].step.name}", ON_ERROR, index)
        if point is not None and policy != "keep":
            self._return_to(point)
        model.add_decision(Decision(ROOT, policy, step=index))
        model.change(state="errored", failed_at=index)

    def _point_now(self, label: str, index: int, then: State | None) -> Group | None:
        """Returns what holds every step that is done; it is made if there is nothing."""
        model = self._model
        point = model.resume_point(model.present)
        if point is None or point.state.done < model.present.done:
            model.add_group(label, AUTOMATIC, step=index, then=then)
            point = model.resume_point(model.present)
        return point

    def _group_around(self, trigger: str, index: int, *, repeated: bool) -> None:
        word = trigger.partition("_")[0]
        label = f"{word} step {index + 1}: {self._course[index].step.name}"
        if trigger in self._model.script.triggers:
            self._group(label, trigger, index, repeated=repeated)

    def _group(self, label: str, trigger: str, index: int, *, repeated: bool = False) -> None:
        if not (repeated and self._is_recorded(label, trigger, index)):
            self._model.add_group(label, AUTOMATIC, trigger, step=index)

    def _is_recorded(self, label: str, trigger: str, index: int) -> bool:
        """Whether a run that was stopped has made a group of this very moment already."""
        present = self._model.present
        moment = (label, trigger, index, present.calls)
        for group in self._model.seen(present):
            then = group.state
            if then.done != present.done:
                return False
            if (group.label, group.trigger, group.step, then.calls) == moment:
                return then.files == present.files
        return False

    def _stop_at(self, point: str) -> None:
        if self._stop == (point, self._steps):
            raise Stopped
