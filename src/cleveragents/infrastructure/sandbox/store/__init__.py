"""The mirror: where snapshots are stored, durable before anyone names them.

Each project has one private bare repository, its mirror. A snapshot is a commit in it whose
tree is exactly the files, plus a small document for what git trees cannot hold.

Main objects:

- `StoredSnapshots` (`snapshots.py`) makes the states of one sandbox durable and reads them back.
- `CapturedState` (`captured_state.py`) is what a snapshot holds: a tree id and the document.
- `LazyTree` (`lazy_tree.py`) loads and rewrites only the trees on the way to a changed path.
- `SnapshotRefs` (`refs.py`) holds the one ref per snapshot that keeps it from being collected;
  `mirror_use` keeps everything while a process works in the mirror.

Storing a state:

1. Compute the objects of the snapshot; equal states have equal ids.
2. If the ref already exists, stop: nothing needs to be stored.
3. Write all new objects as one pack, and sync it.
4. Write the ref, and sync it. Only now may a database row name the snapshot.
5. Now and then, combine small packs in the background (`repacking.py`).

Never write the ref before the pack is durable. Never store a delta whose base could be pruned.
Never rewrite a pack that is hard-linked from the user's repository.
"""
