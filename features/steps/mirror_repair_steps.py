from __future__ import annotations

from behave import given, then, when
from behave.runner import Context
from features.support.faults import damaged_mirrors
from features.support.plans import plans
from features.support.sandboxes.sandbox_bench import bench

from cleveragents.domain.errors import ProjectRefusedError
from cleveragents.testing.trees import differing, read_tree


@given("a project, and in its mirror {damage}")
def damaged_mirror(context: Context, damage: str) -> None:
    damaged_mirrors.DAMAGE[damage](bench(context))


@when("another plan of the project starts")
def another_plan(context: Context) -> None:
    work = bench(context)
    work.attempt(lambda: work.sandbox_of("SECOND"))


@then("its sandbox has the files of the project's commit")
def same_files(context: Context) -> None:
    work = bench(context)
    assert work.error is None, work.error
    found, wanted = work.tree("SECOND"), read_tree(work.project)
    assert not [path for path in differing(found, wanted) if path != "."]
    assert work.fsck() == "", work.fsck()


@then("it is refused, because an object of the project is damaged")
def project_blamed(context: Context) -> None:
    work = bench(context)
    assert isinstance(work.error, ProjectRefusedError), work.error
    assert f"{work.project}/.git/objects/" in work.error.message, work.error.message
    assert "is damaged" in work.error.message, work.error.message


@then("it fails without blaming the project")
def project_not_blamed(context: Context) -> None:
    work = bench(context)
    assert work.error is not None
    assert not isinstance(work.error, ProjectRefusedError), work.error


@given("an object of its mirror is empty that the project has whole")
def empty_object(context: Context) -> None:
    work = plans(context)
    damaged_mirrors.spoil(damaged_mirrors.loose(work.world.project, work.mirror, "HEAD:run.sh"))


@then("the doctor says it replaced 1 damaged object file")
def doctor_replaced(context: Context) -> None:
    checks = {item["name"]: item for item in context.world.last.json["data"]["checks"]}
    found = checks["snapshots"]
    assert found["status"] == "fixed", found
    assert found["message"].startswith("Replaced 1 damaged object file of mirrors"), found
