"""Adapters: the implementations of `application.ports`.

- `database`: records in SQLite or PostgreSQL
- `sandbox`: sandboxes, snapshots, applying results
- `tools`: built-in tools and the processes they run
- `plan_files`, `config`: reading plan files and configuration
- single modules: locks, child plans, interruption, clock and ids, durable file writes

Adapters know `domain` and `ports`, never services. The database and the sandbox do not know each
other.
"""
