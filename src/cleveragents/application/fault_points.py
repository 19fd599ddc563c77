"""Named moments between durable steps, at which a test has a process killed.

What is on disk and in the database at each of them is what the next process finds.
"""

from __future__ import annotations

from enum import StrEnum


class FaultPoint(StrEnum):
    """Each stands right after the step it names."""

    LEASE_TAKEN = "lease-taken"
    SANDBOX_MADE = "sandbox-made"
    """The files are there, no record names them."""
    SANDBOXES_RECORDED = "sandboxes-recorded"
    SANDBOX_FOUND_LOST = "sandbox-found-lost"
    """It is recorded as not whole; nothing stands in its place yet."""
    SANDBOX_REOPENED = "sandbox-reopened"
    """It is there again, and empty."""
    SNAPSHOT_TAKEN = "snapshot-taken"
    """One resource's bytes are durable, no record names them."""
    GROUP_RECORDED = "group-recorded"
    """The records are durable; snapshots of pruned ones are still there."""
    PRUNED_SNAPSHOTS_DROPPED = "pruned-snapshots-dropped"
    INTENT_RECORDED = "intent-recorded"
    TOOL_ENDED = "tool-ended"
    """The tool has done its work; nothing says so yet."""
    OUTCOME_RECORDED = "outcome-recorded"
    STEP_ENDED = "step-ended"
    CALL_FAILED = "call-failed"
    """The failed call is recorded; its effects are in the sandbox."""
    FAILED_STATE_KEPT = "failed-state-kept"
    FAILURE_TAKEN_BACK = "failure-taken-back"
    FAILURE_RECORDED = "failure-recorded"
    GOING_ON_RECORDED = "going-on-recorded"
    DRIFT_SAVED = "drift-saved"
    SANDBOXES_TAKEN_BACK = "sandboxes-taken-back"
    """Every resource is at the checkpoint within a run; the records do not say so yet."""
    RETURN_RECORDED = "return-recorded"
    PRESENT_STATE_SAVED = "present-state-saved"
    ROLLBACK_JOURNALED = "rollback-journaled"
    RESOURCE_RESTORED = "resource-restored"
    """One resource of several is at the checkpoint."""
    ROLLBACK_RECORDED = "rollback-recorded"
    COMPENSATED = "compensated"
    """A rollback that failed has been taken back; the journal does not say so yet."""
    CHILD_APPENDED = "child-appended"
    CANCEL_RECORDED = "cancel-recorded"
    DELETION_RECORDED = "deletion-recorded"
    """The records of deleted checkpoints are gone; their snapshots are still there."""
