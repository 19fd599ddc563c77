from __future__ import annotations

import subprocess
from unittest.mock import Mock, patch

from behave import given, then, when
from behave.runner import Context
from features.support.plans import plans
from features.support.values import table_rows

from cleveragents.application.services.tool_runner import StepContext, ToolRunner
from cleveragents.domain.errors import CleverAgentsError
from cleveragents.infrastructure.sandbox.sandboxes import AllSandboxes

_CHANGES = (
    "SELECT t.step_index + 1, c.path, c.operation FROM changes c"
    " JOIN tool_calls t ON t.tool_call_id = c.tool_call_id"
)


def changes(context: Context, where: str) -> list[list[str]]:
    rows = plans(context).query(f"{_CHANGES} {where} ORDER BY t.sequence, c.path")
    return [[str(step), path, operation] for step, path, operation in rows]


@given("the user changes the sandbox by `{command}` when it has been made")
def change_when_made(context: Context, command: str) -> None:
    real = AllSandboxes.create

    def create(self: AllSandboxes, *arguments: str) -> object:
        made = real(self, *arguments)
        subprocess.run(["/bin/sh", "-ec", command], cwd=made.path, check=True)
        return made

    patched = patch.object(AllSandboxes, "create", create)
    patched.start()
    context.add_cleanup(patched.stop)


@when("a program runs a tool of the plan")
def run_tool(context: Context) -> None:
    container = plans(context).container(Mock())
    plan = container.plan_service().find(plans(context).plan_id)
    runner: ToolRunner = container.tool_runner()
    context.refusal = None
    try:
        with container.locks().hold(plan.id) as lease:
            runner.run(StepContext(lease, plan, 0, plan.step_sequence, (), {}))
    except CleverAgentsError as error:
        context.refusal = error
    finally:
        container.close()


@then("the changes are")
def changes_are(context: Context) -> None:
    found = changes(context, "WHERE t.undone_by IS NULL")
    assert found == table_rows(context.table), found


@then("the changes ever made are")
def changes_ever(context: Context) -> None:
    found = changes(context, "")
    assert found == table_rows(context.table), found


@then("there are no changes in effect")
def no_changes(context: Context) -> None:
    assert not changes(context, "WHERE t.undone_by IS NULL")
