from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

from behave import given, then, when
from behave.runner import Context
from features.support.plans import plans
from features.support.sweeps import fault_sweep as faults

from cleveragents.application.fault_points import FaultPoint
from cleveragents.domain.errors import SnapshotError

DECIDING = """\
name: local/deciding
resources:
  project: {type: git-checkout, path: .}
  data: {type: sqlite, path: OUTSIDE/app.db}
steps:
  - name: first
    tool: shell
    with: {command: "echo 1 >> a.txt; rm run.sh; printf made"}
    save_as: made
  - name: where to keep it
    decision:
      question: Where is it kept?
      chosen: database
      options:
        file: {steps: [{tool: write-file, with: {path: kept.txt, content: kept}}]}
        database:
          steps:
            - name: keep it
              tool: shell
              resource: data
              with:
                command: >-
                  python3 -c "import os, sqlite3;
                  c = sqlite3.connect(os.environ['CLEVERAGENTS_RESOURCE_DATA']);
                  c.execute('insert into goods values (7)'); c.commit()"
  - name: last
    tool: shell
    with: {command: "echo {{ outputs.made }} >> a.txt; test -e OUTSIDE/fixed"}
"""
"""Two resources, a decision, an output that is used later, and steps that show a second run."""


@given("a plan on two resources with a decision and steps that must not run twice")
def deciding_plan(context: Context) -> None:
    with closing(sqlite3.connect(context.world.directory / "app.db")) as connection:
        connection.execute("CREATE TABLE goods(number)")
    text = DECIDING.replace("OUTSIDE", str(context.world.directory))
    plans(context).file.write_text(text)
    (context.world.directory / "fixed").touch()


@given("its last step fails")
def last_step_fails(context: Context) -> None:
    (context.world.directory / "fixed").unlink()


@given("the killed run is one that had ended a tool and recorded nothing of it")
def killed_once(context: Context) -> None:
    arguments = ("plan", "execute", plans(context).plan_id)
    assert faults.killed_at(plans(context), FaultPoint.TOOL_ENDED, 3, *arguments)


@given("a run was killed when its sandboxes were recorded")
def killed_before_first_checkpoint(context: Context) -> None:
    arguments = ("plan", "execute", plans(context).plan_id)
    assert faults.killed_at(plans(context), FaultPoint.SANDBOXES_RECORDED, 1, *arguments)


@given("its sandboxes have been lost after a rollback")
def sandboxes_lost(context: Context) -> None:
    back = plans(context).rollback("after first", "--yes")
    assert context.world.agents_here(*back).exit_code == 0
    root = context.world.home / "sandboxes" / plans(context).plan_id
    for place in root.iterdir():
        if place.is_dir():
            shutil.rmtree(place)


@when("executing it is killed each time it is at {point}, and then resumed")
def sweep_execute(context: Context, point: str) -> None:
    run_sweep(context, point, ("plan", "execute", plans(context).plan_id))


@when("resuming it is killed each time it is at {point}, and then resumed")
def sweep_resume(context: Context, point: str) -> None:
    run_sweep(context, point, ("plan", "resume", plans(context).plan_id))


def run_sweep(context: Context, point: str, arguments: tuple[str, ...]) -> None:
    context.ends = []
    fixed = context.world.directory / "fixed"
    fails = not fixed.exists()

    def check(number: int) -> None:
        faults.check_status(plans(context))
        fixed.touch()
        outcome = context.world.agents_here("plan", "resume", plans(context).plan_id)
        complete = "cannot be resumed" in outcome.stderr
        assert outcome.exit_code == 0 or complete, (point, number, outcome)
        context.ends.append(faults.end_of(plans(context)))
        faults.check_stores(plans(context))
        if fails:
            fixed.unlink()

    context.kills = faults.sweep(plans(context), FaultPoint(point), arguments, check)
    fixed.touch()
    outcome = context.world.agents_here("plan", "execute", plans(context).plan_id, "--yes")
    assert outcome.exit_code == 0, outcome
    context.whole = faults.end_of(plans(context))


@then("the end was each time that of a run that nothing had interrupted")
def same_end(context: Context) -> None:
    assert context.kills > 0, "the point is never reached"
    for number, end in enumerate(context.ends, 1):
        for part, found, wanted in zip(end._fields, end, context.whole, strict=True):
            assert found == wanted, (number, part, found, wanted)


@given("it has been executed")
def executed(context: Context) -> None:
    outcome = context.world.agents_here("plan", "execute", plans(context).plan_id)
    assert outcome.exit_code == 0, outcome


@given("the next rollback fails for want of its records")
def failing_records(context: Context) -> None:
    """Only in the process that is killed: the next one finds everything in order."""
    real = faults.Deadly.reach

    def reach(deadly: faults.Deadly, point: FaultPoint) -> None:
        real(deadly, point)
        if point is FaultPoint.RESOURCE_RESTORED and deadly.counted[point] == 2:
            raise SnapshotError("The disk gave up")

    patched = patch.object(faults.Deadly, "reach", reach)
    patched.start()
    context.add_cleanup(patched.stop)


@when('rolling it back to "{label}" is killed each time it is at {point}, and then repeated')
def sweep_rollback(context: Context, label: str, point: str) -> None:
    arguments = tuple(plans(context).rollback(label, "--yes"))
    context.ends = []

    def check(_: int) -> None:
        outcome = context.world.agents_here(*arguments)
        assert outcome.exit_code == 0, outcome
        context.ends.append(faults.end_of(plans(context)))
        faults.check_stores(plans(context))

    context.kills = faults.sweep(plans(context), FaultPoint(point), arguments, check)
    outcome = context.world.agents_here(*arguments)
    assert outcome.exit_code == 0, outcome
    context.whole = faults.end_of(plans(context))


@when("cancelling it is killed at cancel-recorded")
def kill_cancel(context: Context) -> None:
    arguments = ("plan", "cancel", plans(context).plan_id)
    assert faults.killed_at(plans(context), FaultPoint.CANCEL_RECORDED, 1, *arguments)


@when("somebody looks for the points in this feature and in the others about kills")
def look_for_points(context: Context) -> None:
    this = Path(context.feature.filename)
    names = (
        *("operation_faults", "apply_faults", "sandbox_cleanup", "subplan_faults"),
        *("homes", "adoption", "recorder", "undo_apply_faults"),
    )
    others = [this.with_name(f"{name}.feature").read_text() for name in names]
    context.text_of_feature = "".join([this.read_text(), *others])


@then('everything was each time as at "{label}", and nothing was pending')
def as_at(context: Context, label: str) -> None:
    same_end(context)
    labels = [item[0] for item in context.whole.checkpoints]
    assert labels[-1] == label, labels


@then("the sandboxes were each time those of a run that nothing had interrupted")
def same_sandboxes(context: Context) -> None:
    assert context.kills > 0, "the point is never reached"
    for end in context.ends:
        assert end.sandboxes == context.whole.sandboxes, end
        assert end.calls == context.whole.calls, end


@then("all of them are there")
def all_points(context: Context) -> None:
    missing = [point for point in FaultPoint if point.value not in context.text_of_feature]
    assert not missing, missing
