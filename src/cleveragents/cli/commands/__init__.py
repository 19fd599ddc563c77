"""The commands, one module per group of related ones, each imported when it is called.

A command parses its options, calls one service, and returns a `Report`; it never prints.
`plan.open_plan` finds a plan and builds services with its project's settings. `options` has
what several commands share. A command that changes something shows a preview and asks for
confirmation, unless `--yes` or `--dry-run` is given. Building services is the job of the
container, and turning results into fields that of `cleveragents.reports`.
"""
