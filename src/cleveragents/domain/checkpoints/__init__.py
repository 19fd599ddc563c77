"""Checkpoints: the records of snapshots, and the operations that return to them.

- `Checkpoint` and `CheckpointGroup` (`checkpoint.py`): one snapshot, and all of one moment.
- `Operation` and `Position` (`operation.py`): the journal entry of a rollback, undo, redo or
  correction, with the position of the plan before and after.
- `select_for_pruning` (`retention.py`) decides which groups go. It is a pure function.

A group names the snapshot of every resource, so that it can be restored alone. Stored names and
values never change: databases of earlier versions hold them.
"""
