"""The parts of taking a checkpoint: what is recorded, what is pruned, what is read back.

Main objects:

- `Milestone` (`milestone.py`) says where a plan is and why a checkpoint is taken there.
- `GroupRecorder` (`group_recorder.py`) turns snapshots of one moment into records.
- `prune_after` (`pruning.py`) drops the checkpoints that the retention limit no longer allows.

Taking a checkpoint (`CheckpointService`):

1. Snapshot every sandbox: objects and refs are durable.
2. Decide from the snapshots whether the plan's policy accepts them.
3. One transaction: the group, its checkpoints, `last_checkpoint_id`, and the caller's records.
4. Remove the snapshots of pruned groups; a kill before this leaves refs that no record names.

Never record a checkpoint whose snapshot is not durable, and never prune what an undo, an
unfinished operation or a failed plan still needs.
"""
