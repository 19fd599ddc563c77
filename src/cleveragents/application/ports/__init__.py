"""Ports: what services need from the outside, as protocols with their obligations.

`cleveragents.infrastructure` implements them, and `cleveragents.testing` holds the contract
suites that every implementation passes. MUST and MUST NOT are meant literally.

- `records`: the database, its transactions, and one store per kind of record
- `sandboxes`: creating sandboxes; taking and restoring their snapshots
- `targets`: writing a result into the user's project
- `locks`: the lease on a plan
- `tools`: running a tool in a sandbox
- `plans`: reading plan files; running child plans
- `maintenance`: mirrors, disk use, what an installation is
- `system`: clock, ids, events, fault points, interruption

A port never knows anything but `domain`. Add a method only when a service needs it.
"""
