"""Subplans: child plans that run as processes, in sandboxes forked from their parent's.

Main objects:

- `SubplanRunner` (`runner.py`) runs a step with subplans, wave by wave.
- `ChildSpawner` (`spawner.py`) records the children and forks their sandboxes.
- `ChildMerger` (`merger.py`) merges what a child made into the parent's sandboxes.
- `family.py` cancels a plan with all plans below it.

A wave: record the children with a checkpoint of the parent, fork their sandboxes, start each in
a process of its own, wait, retry what may be retried, merge what succeeded, and checkpoint the
merge. All of it is found again in the records, so that a run that continues after a kill
does only what is missing.

Never merge part of a wave whose policy is to fail together, and never change a child that
another process holds.
"""
