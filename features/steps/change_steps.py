from __future__ import annotations

from behave import then, when
from behave.runner import Context
from features.support import change_notes

from cleveragents.domain.artifact import ArtifactSummary, artifacts_of, summary_of


@when("a plan's calls made the changes {changes}")
def made_changes(context: Context, changes: str) -> None:
    context.artifacts = artifacts_of("PLAN1", change_notes.changes(changes))


@then("its artifacts are {artifacts}")
def artifacts_are(context: Context, artifacts: str) -> None:
    found = "; ".join(map(change_notes.told, context.artifacts)) or "nothing"
    assert found == artifacts, found


@then("it counts {total:d} artifacts: {writes:d} writes, {edits:d} edits and {deletes:d} delete")
def counted(context: Context, total: int, writes: int, edits: int, deletes: int) -> None:
    wanted = ArtifactSummary(total=total, writes=writes, edits=edits, deletes=deletes)
    assert summary_of(context.artifacts) == wanted, summary_of(context.artifacts)
