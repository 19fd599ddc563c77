"""Rolling back, undoing, redoing, correcting: one procedure for all of them.

Main objects:

- `RollbackProcedure` (`procedure.py`) carries out an operation, one method per stage.
- An `Intent` (`intents.py`, `partial.py`, `revert.py`) is a value that says where sandboxes and
  plan should go. The procedure asks it once, before anything changes.
- `Position` (in `domain`) is everything in a plan's records that an operation changes.

The stages:

1. Guards: refuse what cannot be undone or would lose something.
2. Safety checkpoint of the present state, so that the operation itself can be undone.
3. Journal: the position of the plan and its new position, before the first file changes.
4. Restore every resource, and read it back.
5. One transaction: the records follow the files.

A failure in 4 or 5 restores every resource from the safety checkpoint. A kill leaves a pending
journal entry, which `recovery` completes or undoes. Never touch a file before the journal is
durable, and never report a restore as verified without reading it back.
"""
