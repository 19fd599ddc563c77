"""Stored states: compared, edited, combined and merged, without looking at a disk.

Everything here works on `CapturedState` values and the trees they name. The cost depends on
the difference between two states, not on the size of the project.

Main objects:

- `difference` (`difference.py`) lists what a restore must write, remove and leave alone.
- `path_changes` (`path_changes.py`) lists how each path differs between two states.
- `StateEditor` (`state_editor.py`) changes a state path by path and returns the new one.
- `merge_states` (`three_way.py`) merges the changes of a child plan, with conflicts listed.

Walk both trees side by side, skip subtrees with equal ids, and read a tree only when its id
differs. Modes, empty directories and uncaptured paths come from the documents.

Never read or write a sandbox here, and never decide that a path may be deleted because the
other state did not capture it.
"""
