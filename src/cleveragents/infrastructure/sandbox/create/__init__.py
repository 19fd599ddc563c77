"""Creating sandboxes: worktrees of the mirror, copies of directories, overlays.

Main objects:

- `SandboxMaker` (`maker.py`) is what every strategy can do: create, check, reopen, remove.
- `WorktreeSandboxes`, `DirectorySandboxes`, `OverlaySandboxes` are the strategies for files.
- `PrivateViewSandboxes` makes the layers of private views; `view_probe.py` says why there is none.
- `TreeCopy` (`tree_copy.py`) copies a directory exactly, large ones with several processes.
- `ProjectInspection` (`inspection.py`) refuses a resource that cannot be sandboxed safely.

Creating one:

1. Inspect the project without touching it; refuse what cannot be carried over in full.
2. Refresh the mirror: link or copy the objects of the project that are new.
3. Fill a draft directory beside the final path, locked by its maker.
4. Rename it into place. A kill leaves a draft that nobody holds, and the next run removes it.

Never write to the project, never copy through a symbolic link, never use the project's
configuration, hooks or filters.
"""
