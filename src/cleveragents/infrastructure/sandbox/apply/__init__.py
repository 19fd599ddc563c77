"""Writing a plan's result into the user's project, whole or not at all.

Main objects:

- `AllTargets` (`targets.py`) is the `Targets` port: it plans a target, and opens it.
- `ApplyJournal` (`journal.py`) is what an apply found and will leave, stored in the mirror
  together with all bytes that doing and undoing it needs; `ApplyProgress` notes how far it came.
- `plan_git`, `plan_directory`, `plan_database` make the journal of one kind of resource.
- `GitTarget`, `DirectoryTarget`, `SqliteTarget` are open targets: lock, write, settle, finish, or
  undo.
- `ProjectWriter` (`project_writer.py`) replaces files, each by an atomic rename.
- `MergeWorkspace` (`merge_workspace.py`) is where git merges trees and builds the new index.

An apply:

1. Plan: merge the result with the project in the mirror; conflicts end it here.
2. Store the journal. Until now the project is untouched.
3. Lock: take `index.lock`, and check that everything is still as planned.
4. Write: store the objects, write the new files beside the project, then rename them.
5. Settle: move the branch, then rename the lock to `index`.

Each act looks at the disk to see whether it is done, so it can be repeated or undone after a
kill. Never overwrite what the user changed since the plan was made, and never run a hook,
filter or merge driver of the project.
"""
