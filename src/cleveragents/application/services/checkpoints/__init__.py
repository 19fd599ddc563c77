"""The parts of taking a checkpoint: what is recorded, what is pruned, what is read back.

Main objects:

- `GroupRecorder` (`group_recorder.py`) snapshots the sandboxes, and records the group; a
  `Milestone` says where the plan is and why.
- `prune` (`pruning.py`) deletes the checkpoints that the retention limit no longer allows.
- `resume_point` (`resume_point.py`) is the checkpoint that a run continues from.

Taking a checkpoint (`CheckpointService`, which decides, and `GroupRecorder`, which does it):

1. Snapshot every sandbox: objects and refs are durable.
2. Decide from the snapshots whether the plan's policy accepts them.
3. One transaction: the group, its checkpoints, `last_checkpoint_id`, and the caller's records.
4. Remove the snapshots of pruned groups; a kill before this leaves refs that no record names.

Never record a checkpoint whose snapshot is not durable, and never prune what an undo, an
unfinished operation or a failed plan still needs.
"""
