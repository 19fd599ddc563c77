"""Records and rules, without input or output.

Records are frozen structs of msgspec. Rules are pure functions over them: which transition a plan
may make, which checkpoints are pruned, how two changes merge. Everything here can be tested
without a disk, a database or a clock.

- `plans`: plan files, plans, their steps, events, subplans, validations, applying
- `checkpoints`: checkpoints and groups, operations on them, retention
- `decisions`: decisions and corrections
- `sandboxes`: resources, sandboxes, changes, merges
- `tools`: what tools declare, their calls and irreversible effects
- `settings`: the registry of configuration keys
- `health`: what `doctor`, `gc` and `verify` report
- `errors.py`: every error that a user can meet, in one tree

Never read a file, a clock or the environment here, and never import from `application`,
`infrastructure` or a framework.
"""
