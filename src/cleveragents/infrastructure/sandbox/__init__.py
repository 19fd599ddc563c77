"""Sandboxes: private copies of resources, and exact snapshots of them.

Everything an agent does happens in a sandbox, never in the user's own files. This package
creates sandboxes, stores and restores their snapshots, and writes a finished result back.

Main objects:

- `CheckpointManager` (`checkpoint.py`) is the `SnapshotStore` port. It opens the engine that
  fits a sandbox's strategy.
- `AllSandboxes` (`sandboxes.py`) is the `Sandboxes` port. It creates, checks, forks and removes.
- `AllTargets` (`apply/targets.py`) is the `Targets` port. It writes results into projects.

Packages, from the bottom up; each may import only those before it (import-linter checks this):

1. `git`: starts git, knows its object format and the layout of a mirror
2. `store`: makes states durable in a mirror and reads them back
3. `states`: compares, edits and merges stored states without looking at a disk
4. `files`: tracks the files of one sandbox, snapshots them, restores them
5. `create`: creates and removes sandboxes: worktrees, copies, overlays
6. `sqlite`: the same for one SQLite database
7. `apply` and `gc`: write a result into the project; reclaim what nobody needs

What must never happen here: a write outside the sandbox, through a symbolic link or into the
user's repository (only `apply` may write there); a ref that becomes durable before its objects;
a program that a repository configures being started.
"""
