"""The `agents` command: the only package that prints and asks.

`main` is the root command and turns every outcome into an exit code. `Session` is one call:
its options, settings and services, and the questions to the user. `frame` declares commands;
each is a function that returns a `Report`. `output` shows a report or a failure in the chosen
format, with one of the `printers`. `terminal` writes safe characters only.

1. `main` makes a `Session`, and Click finds the command, whose module is imported only now.
2. The command checks its options, opens the plan's container, and asks a service to act.
3. `cleveragents.reports` makes a `Report` from the result.
4. `output` prints it: stdout has only the result, stderr has progress and questions.

It must not contain rules or read records itself: services decide, reports describe. Modules
import little at the top, because every call of `agents` pays for it.
"""
