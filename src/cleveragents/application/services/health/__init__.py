"""What `agents doctor` checks: plans that nobody looks after, and files that no record names.

Main objects:

- `PlanHealth` (`plans.py`) finds plans left unfinished by processes that no longer run.
- `StoreHealth` (`stores.py`) finds files on disk that no record names.

Checking changes nothing. List the directories first and ask the records last: what another
process is creating meanwhile must not look abandoned. Fixing takes the same locks as the owner
would, and never removes what a record names.
"""
