from __future__ import annotations

import shutil
from unittest.mock import patch

from behave import given, then, when
from behave.runner import Context
from features.support.faults import apply_faults, plan_faults
from features.support.plans import plans
from features.support.situations.applies import Acting, Interrupting, applies
from features.support.sweeps import operation_sweep
from features.support.sweeps.operation_sweep import Throwing

from cleveragents.application.fault_points import FaultPoint
from cleveragents.container import Container
from cleveragents.domain.errors import PlanStateError
from cleveragents.domain.plans.apply import ApplyRequest
from cleveragents.testing.events import NoEvents


@given("a plan that wrote a.log, and then had git ignore it")
def wrote_then_ignored(context: Context) -> None:
    applies(context).prepare("true", "true")
    log = {"step": "log", "does": "writes a.log"}
    plans(context).define([log, {"step": "ignore", "does": "runs `echo a.log > .gitignore`"}])
    plans(context).run()


@given("the user runs `{command}` when the apply is at {point}")
def user_acts(context: Context, command: str, point: str) -> None:
    plan_faults.install(context, applies(context).do_at(FaultPoint(point), command))


@given("the user applies another plan of the project when the apply is at {point}")
def other_apply(context: Context, point: str) -> None:
    first = plans(context).plan_id
    plans(context).define([{"step": "work", "does": "writes other.txt"}])
    plans(context).run()
    arguments = ("plan", "apply", plans(context).plan_id, "--yes")
    plans(context).chosen = first
    acting = Acting(FaultPoint(point), lambda: plans(context).prepare(*arguments))
    plan_faults.install(context, patch.object(Container, "_faults", acting))


@given("the apply will fail at {point}")
def will_fail(context: Context, point: str) -> None:
    throwing = Throwing(FaultPoint(point), 1)
    plan_faults.install(context, patch.object(Container, "_faults", throwing))


@given("for the apply {trouble}")
def trouble(context: Context, trouble: str) -> None:
    plan_faults.install(context, apply_faults.TROUBLES[trouble]())


@then("the project is as the user left it")
def as_user_left_it(context: Context) -> None:
    expected, found = applies(context).left, applies(context).seen()
    assert expected == found, (expected, found)


@then("the error names the commands {commands}")
def names_commands(context: Context, commands: str) -> None:
    found = context.world.last.json["error"]["details"]["recovery_options"]
    assert found == plans(context).filled(commands).split("; "), found


@given("the project's directory is called `{name}`")
def called(context: Context, name: str) -> None:
    context.plans = plans(context)
    place = context.world.directory / name.replace("\\n", "\n")
    context.world.project.rename(place)
    context.world.project = place


@given("a plan that ran `{work}` was started in the directory {directory}")
def started_inside(context: Context, work: str, directory: str) -> None:
    applies(context).prepare("true", work)
    file = str(plans(context).file)
    plans(context).prepare("plan", "run", file, "--project", directory)


@given("the project's git directory is elsewhere")
def separate_git_directory(context: Context) -> None:
    applies(context).shell("git init -q --separate-git-dir ../elsewhere.git")


@given("somebody writes to the database when the apply is at {point}")
def database_written(context: Context, point: str) -> None:
    place = context.world.directory / "app.db"
    acting = Acting(FaultPoint(point), lambda: apply_faults.add_row(place))
    plan_faults.install(context, patch.object(Container, "_faults", acting))


@given("the database is kept locked")
def database_locked(context: Context) -> None:
    plan_faults.install(context, apply_faults.database_that_is_locked())


@given("the database makes SQLite fail")
def database_fails(context: Context) -> None:
    plan_faults.install(context, apply_faults.database_that_makes_sqlite_fail())


@given("the user presses Ctrl-C when the apply is at {point}")
@given("the user presses Ctrl-C when the run is at {point}")
def presses(context: Context, point: str) -> None:
    interrupting = Interrupting(*(FaultPoint(name) for name in point.split(", and again at ")))
    plan_faults.install(context, patch.object(Container, "_faults", interrupting))


@given("the plan has been interrupted at {point}")
def interrupted_at(context: Context, point: str) -> None:
    with patch.object(Container, "_faults", Interrupting(FaultPoint(point))):
        plans(context).run(exit_code=130)


@given("a plan that changed a repository in a sandbox and a directory without one")
def without_sandbox(context: Context) -> None:
    files = context.world.directory / "files"
    files.mkdir()
    plans(context).definition |= {
        "resources": {
            "project": {"type": "git-checkout", "path": "."},
            "files": {"type": "fs-directory", "path": str(files), "strategy": "none"},
        },
        "policy": {"require_sandbox": False, "require_checkpoints": False},
    }
    work = 'echo new > new.txt; echo 1 > "$CLEVERAGENTS_RESOURCE_FILES/b.txt"'
    plans(context).define([{"step": "work", "does": f"runs `{work}`"}])
    plans(context).run()


@then("its sandbox is gone, and the directory is not")
def only_sandbox_gone(context: Context) -> None:
    assert not plans(context).sandbox.exists()
    assert (context.world.directory / "files" / "b.txt").exists()


@given("a plan that deleted its database")
def deleted_database(context: Context) -> None:
    place = context.world.directory / "app.db"
    apply_faults.make_database(place)
    plans(context).definition["resources"] = {"base": {"type": "sqlite", "path": str(place)}}
    does = 'runs `rm "$CLEVERAGENTS_RESOURCE_BASE"`'
    plans(context).define([{"step": "work", "does": does}])
    operation_sweep.done(plans(context), "plan", "run", str(plans(context).file))


@given("a plan whose first checkpoint could not be made, and did not have to be")
def no_first_checkpoint(context: Context) -> None:
    applies(context).prepare("true", "echo new > new.txt")
    plans(context).set_policy(require_checkpoints=False)
    with plan_faults.failing_look(1):
        plans(context).run()


@when("a program applies the plan")
def program_applies(context: Context) -> None:
    service = plans(context).container(NoEvents()).plan_apply_service()
    context.answer = service.apply(plans(context).plan_id, ApplyRequest())


@then("the program learns what was applied")
def learns_what_was_applied(context: Context) -> None:
    (target,) = context.answer.targets
    assert [item.path for item in target.files] == ["list.txt", "new.txt"], target


@when("a program asks what was applied")
def program_asks(context: Context) -> None:
    service = plans(context).container(NoEvents()).plan_apply_service()
    try:
        context.answer = service.finished(plans(context).plan_id)
    except PlanStateError as error:
        context.answer = error.message


@then("the program is told that a plan in {state} cannot show what was applied")
def refused_not_applied(context: Context, state: str) -> None:
    expected = f"A plan in {state} cannot show what was applied"
    assert context.answer == expected, context.answer


@given('the user has deleted the checkpoint "{label}" and reclaimed the space')
def first_deleted(context: Context, label: str) -> None:
    checkpoint = plans(context).checkpoint(label)["checkpoint_id"]
    plans(context).prepare("plan", "checkpoint", "delete", plans(context).plan_id, checkpoint, "-y")
    plans(context).prepare("gc")


@given("the plan's record names no checkpoint")
def names_no_checkpoint(context: Context) -> None:
    statement = "UPDATE plans SET last_checkpoint_id = NULL WHERE plan_id = ?"
    plans(context).query(statement, plans(context).plan_id)


@given("the store was written by a version that did not keep what plans started from")
def no_starts(context: Context) -> None:
    shutil.rmtree(plans(context).mirror / "refs" / "cleveragents" / "starts")
