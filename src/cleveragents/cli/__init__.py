"""The `agents` command: the only package that prints and asks.

`main` is the root command and turns every outcome into an exit code. `Session` is one call:
what was asked for, the settings, the container, the questions to the user. `frame` declares
commands; each is a function that returns a `Report`. `output` shows a report or a failure in
the format in force, with one of the `printers`. `terminal` writes safe characters only.

1. `main` makes a `Session`, and Click finds the command, whose module is imported only now.
2. The command checks its options, opens the plan's container, and asks a service to act.
3. `cleveragents.reports` makes a `Report` from the result.
4. `output` prints it: stdout has the result and nothing else, stderr progress and questions.

It must not contain rules or read records itself: services decide, reports describe. Imports
at module level stay few, because every call of `agents` pays for them.
"""
