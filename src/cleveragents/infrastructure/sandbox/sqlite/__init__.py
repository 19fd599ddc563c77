"""Snapshots of one SQLite database: consistent, exact, restored as one transaction.

Main objects:

- `SqliteSnapshots` (`snapshots.py`) is the engine; it implements the same protocol as
  `files.FileSandbox`.
- `SqliteSandboxes` (`copies.py`) makes the private copy with SQLite's backup API.
- `ChunkedSnapshot` (`chunks.py`) is how a database file is stored: chunks as blobs, so that
  unchanged parts cost nothing.

A snapshot settles the journal under a lock, reads the file, stores new chunks and a document in
the mirror. A restore writes the database through a transaction, so that a program that has it
open sees the old content or the new one.

Never replace a database file that another process has open, and never overwrite a change that
was committed after the last look.
"""
