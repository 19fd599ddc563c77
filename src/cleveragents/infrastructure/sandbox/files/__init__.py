"""The snapshot engine of a sandbox that is a directory of files, with git or without.

Main objects:

- `FileSandbox` (`sandbox.py`) snapshots, restores, merges and forks one sandbox.
- `SandboxTracker` (`tracker.py`) knows what the sandbox holds, and keeps that up to date.
- `LiveTree` (`live_tree.py`) is the tree in memory; it reads the paths it is told to look at.
- `SandboxWriter` (`writer.py`) writes a difference to disk.
- `Layer` (`views.py`) is the directory of a private view, which a process must enter to see it;
  `layer.py` reads what changed in it.

A snapshot:

1. Find what changed: the kernel's file watch while a plan runs, else one scan of change times.
2. Read those files only, and update the trees above them.
3. Read HEAD, branch and index of the sandbox's own git.
4. Hand the state and the new objects to `store`, which makes them durable.

A restore:

1. Compute the difference between what is there and what is wanted.
2. Read and check every needed byte, and refuse if uncaptured files are in the way.
3. Write only the differing paths; then look at them again, and report what differs.

Never follow a symbolic link, never remove what no snapshot holds, never believe the watch
after it reported an overflow.
"""
