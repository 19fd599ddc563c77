"""Reclaiming space: finding what nobody needs, and removing only that.

Main objects:

- `ProjectMirrors` (`mirrors.py`) is the `Mirrors` port: the mirrors of all projects in a home.
- `collect` (`collect.py`) reclaims one mirror while nobody else uses it.
- `NeededObjects` (`reachability.py`) is what refs, indexes and histories still reach.

Collecting a mirror:

1. Lock it, so that nobody takes a snapshot meanwhile.
2. Ask the database which plans and snapshots it knows; after the lock, never before.
3. Remove temporary files, refs and sandboxes that no record names.
4. Write one new pack with everything that is still needed, durable.
5. Only then remove the old packs. A kill leaves more than needed, never less.

Never remove what a record names or what a running git may be writing, and never remove a
sandbox with finished work.
"""
