"""The commands, one module per command or group, each imported when it is called.

A command parses its options, calls one service, and returns a `Report`; it never prints.
`plan.open_plan` finds a plan and builds services with its project's settings. `options` has
what several commands share. An act that changes something shows a preview and asks first,
unless `--yes` or `--dry-run` is given. A command must not build services itself, nor turn
results into fields: that is the work of the container and of `cleveragents.reports`.
"""
