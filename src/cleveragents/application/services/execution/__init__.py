"""The parts of running a plan: its sandboxes, the current step, and what a failure does.

Main objects:

- `ResourceSelection` (`resource_selection.py`) finds the resources of a new plan.
- `SandboxSetup` (`sandbox_setup.py`) creates the sandboxes, and recreates one that was lost.
- `StepContext` (`step.py`) is the step being run: its input, its sandbox, its outputs.
- `FailurePolicy` (`failure_policy.py`) records a failed step and follows the plan's policy.

`PlanExecutor` takes the lease, has interrupted work finished, prepares the sandboxes, and then
for each step: checkpoint, intent, tool, checkpoint with the outcome in one transaction.

Never run a tool before its intent is stored, and never continue from a state that no complete
checkpoint holds.
"""
