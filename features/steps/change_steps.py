from __future__ import annotations

from behave import given, then, when
from behave.runner import Context
from features.support.situations import change_notes
from features.support.situations.changes import CallChanges, written

from cleveragents.domain.sandboxes.artifact import ArtifactSummary, net_artifacts, summary_of


@when("a plan's calls made the changes {changes}")
def made_changes(context: Context, changes: str) -> None:
    context.artifacts = net_artifacts("PLAN1", change_notes.changes(changes))


@then("its artifacts are {artifacts}")
def artifacts_are(context: Context, artifacts: str) -> None:
    found = "; ".join(map(change_notes.describe, context.artifacts)) or "nothing"
    assert found == artifacts, found


@then("it counts {total:d} artifacts: {writes:d} writes, {edits:d} edits and {deletes:d} delete")
def counted(context: Context, total: int, writes: int, edits: int, deletes: int) -> None:
    wanted = ArtifactSummary(total=total, writes=writes, edits=edits, deletes=deletes)
    assert summary_of(context.artifacts) == wanted, summary_of(context.artifacts)


@given("the program looks at the sandboxes around each of its calls")
def around_calls(context: Context) -> None:
    context.calls = CallChanges(context)


@given("the program read the sandboxes before a call")
def looked_before(context: Context) -> None:
    context.calls = CallChanges(context)
    context.calls.look()


@given("a checkpoint is made that drops the record of that state")
def dropped_record(context: Context) -> None:
    context.calls.checkpoint("later")


@when("a call runs `{command}`")
def run_call(context: Context, command: str) -> None:
    context.calls.call(command)


@when("{count:d} calls each change a file")
def many_calls(context: Context, count: int) -> None:
    for number in range(count):
        context.calls.call(f"echo {number} > file-{number}")


@when("the call ends without having changed anything")
def unchanged(context: Context) -> None:
    context.calls.call("true")


@then("the call changed {changes}")
def call_changed(context: Context, changes: str) -> None:
    assert written(context.calls.changes) == changes, written(context.calls.changes)


@then("the store keeps one snapshot more than the checkpoints name")
def one_more(context: Context) -> None:
    kept, named = context.calls.kept(), context.calls.named()
    assert named < kept and len(kept - named) == 1, (kept, named)


@then("the next run of the plan drops it")
def next_run_drops(context: Context) -> None:
    context.calls.recover()
    assert context.calls.kept() == context.calls.named()
