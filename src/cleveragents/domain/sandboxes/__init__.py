"""Sandboxes: what may change, the private copy of it, and how two states differ or merge.

- `Resource`, `SandboxRef`, `SandboxCheckpoint`, `RestoreReport` (`sandbox.py`)
- `PathChange` (`change.py`): how one path differs between two states
- `MergeReport` and `merge_path` (`merge.py`): the result for one path of a three-way merge

Whatever a snapshot could not capture is recorded with it and never deleted by a restore.
"""
