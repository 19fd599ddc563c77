"""The report of `agents demo`: what it did, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cleveragents.application.services.correction_service import RevertResult
from cleveragents.domain.checkpoints.checkpoint import Checkpoint
from cleveragents.domain.checkpoints.operation import RollbackResult
from cleveragents.domain.plans.apply import ApplyResult
from cleveragents.domain.plans.plan import Plan
from cleveragents.reports.checkpoints.restores import changes_data, changes_done
from cleveragents.reports.report import Commands, Fields, Report, Section, Table

Contents = Mapping[str, bytes]

_NEXT = Commands(
    "Now try it in a project of your own",
    (
        ("Run any command", "agents run -- COMMAND"),
        ("Run a plan file", "agents plan run plan.yaml"),
        ("See its checkpoints", "agents plan rollback @latest"),
        ("Roll back to one", "agents plan rollback @latest CHECKPOINT"),
        ("Keep the result", "agents plan apply @latest"),
    ),
)


@dataclass(frozen=True)
class Story:
    """What was done, in order, and what the sandbox contained each time."""

    plan: Plan
    checkpoints: Sequence[Checkpoint]
    target: Checkpoint
    broken: Contents
    rollback: RollbackResult
    undo: RollbackResult
    undone: Contents
    correction: RevertResult
    corrected: Contents
    """The sandbox after the plan ran with the other option."""
    project_untouched: bool
    """Whether the project was unchanged until the apply."""
    applied: ApplyResult
    project: Contents
    """The project after the apply."""
    kept: Path | None

    @property
    def verified(self) -> bool:
        """Whether everything was read back and was as expected."""
        read_back = (self.rollback, self.undo, self.correction.rollback)
        as_expected = self.undone == self.broken and self.project == self.corrected
        return all(item.verified for item in read_back) and as_expected


def demo_report(story: Story) -> Report:
    attempt = story.correction.attempt
    data: dict[str, object] = {
        "plan_id": story.plan.id,
        "checkpoints": [item.id for item in story.checkpoints],
        "rolled_back_to": story.target.id,
        "changes_reverted": changes_data(story.rollback.changes),
        "undone": {
            "operation_id": story.undo.operation_id,
            "takes_back": story.rollback.operation_id,
            "as_before": story.undone == story.broken,
        },
        "corrected": {
            "correction_id": attempt.id,
            "decision_id": story.correction.decision.id,
            "question": story.correction.decision.question,
            "was": story.correction.decision.chosen_option,
            "now": attempt.choose,
            "guidance": attempt.guidance,
        },
        "result": list(story.corrected),
        "applied": {
            "operation_id": story.applied.operation_id,
            "commit": story.applied.targets[0].commit,
            "branch": story.applied.targets[0].branch,
            "files": [item.path for item in story.applied.targets[0].files],
        },
        "verified": story.verified,
        "project_untouched": story.project_untouched,
        "directory": str(story.kept) if story.kept else None,
    }
    sections = (
        _what_ran(story),
        _checkpoint_table(story.checkpoints, story.target),
        changes_done(
            "3. agents plan rollback PLAN CHECKPOINT  (back to before the mistake)",
            story.rollback.changes,
        ),
        changes_done(
            "4. agents plan undo PLAN  (a rollback can be undone, too)", story.undo.changes
        ),
        _correction(story),
        _applied(story.applied),
        _outcome(story),
        _NEXT,
    )
    done = ("Verified: the mistake is gone, and the good work is kept",)
    return Report(data, sections, done, headed=True)


def _what_ran(story: Story) -> Section:
    steps = ", ".join(item.step.name for item in story.plan.step_sequence)
    chosen = story.correction.decision.chosen_option
    return Fields(
        "1. agents plan run plan.yaml",
        (
            ("where", "in a private copy of the project, which itself is not touched"),
            ("steps", steps),
            ("mistake", f"the plan chose to tidy up `{chosen}`, and the sources are gone"),
            ("left over", ", ".join(story.broken)),
        ),
    )


def _checkpoint_table(checkpoints: Sequence[Checkpoint], target: Checkpoint) -> Section:
    return Table(
        "2. agents plan checkpoint list PLAN  (they were created automatically)",
        ("Checkpoint", "Label", "State"),
        tuple(
            (
                item.id,
                f"{item.metadata.label}{'  <- the target' if item == target else ''}",
                item.metadata.state_hash[:12],
            )
            for item in checkpoints
        ),
    )


def _correction(story: Story) -> Section:
    decision, attempt = story.correction.decision, story.correction.attempt
    return Fields(
        f"5. agents plan correct DECISION --mode revert --choose {attempt.choose}",
        (
            ("question", decision.question),
            ("was", decision.chosen_option),
            ("now", attempt.choose or ""),
            ("because", attempt.guidance),
            ("kept", "the steps before the decision, which were not repeated"),
            ("then", "agents plan execute PLAN"),
            ("result", ", ".join(story.corrected)),
        ),
    )


def _applied(applied: ApplyResult) -> Section:
    (target,) = applied.targets
    rows = [(item.status, item.path) for item in target.files]
    rows.append(("commit", f"{target.commit} on {target.branch}"))
    return Fields("6. agents plan apply PLAN  (only now does the project change)", tuple(rows))


def _outcome(story: Story) -> Section:
    rows = [
        ("verified", "yes: the files were read back each time" if story.verified else "NO"),
        (
            "nothing is lost",
            f"checkpoint {story.correction.attempt.archived_checkpoint_id} has the mistake",
        ),
        (
            "project",
            "unchanged, byte for byte, until the result was applied"
            if story.project_untouched
            else "CHANGED before the result was applied",
        ),
    ]
    if story.kept is not None:
        rows.append(("kept in", str(story.kept)))
        rows.append(("look around", f"CLEVERAGENTS_HOME={story.kept}/home agents plan list"))
    return Fields("Result", tuple(rows))
