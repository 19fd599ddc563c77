"""What a `SnapshotStore` must do for SQLite databases.

`store.CONTRACT` is about snapshots, restores and merges, `forks.CONTRACT` about forks.
"""
