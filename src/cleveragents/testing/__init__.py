"""Contract suites for the ports, for the tests of this project and of third parties.

A suite is a tuple `CONTRACT` of functions. Each takes a callable that makes what it tests, and
raises `expectations.ContractError` if the promise of the port is broken.

- `records`: every `Database`
- `snapshots`: every `SnapshotStore`
- `sqlite`: a `SnapshotStore` for SQLite databases
- `forks`: forks of sandboxes, by `Sandboxes` and `SnapshotStore` together
- `sample_records.py`, `trees.py`: records and trees to test with
"""
