"""The parts of applying a plan: validations, the procedure, removing sandboxes afterwards.

Main objects:

- `ApplyProcedure` (`procedure.py`) writes the result into every resource, or into none.
- `ValidationRunner` (`validation_runner.py`) runs the plan's validations in its sandboxes.
- `SandboxRemoval` (`sandbox_removal.py`) removes the sandboxes of a plan that has ended.

The procedure: the caller holds the lease, has planned every resource and stored that in the
journal; then lock all, write all, settle all, and record it in one transaction. A failure undoes
every resource. A kill leaves a pending journal entry, which `recovery` completes or undoes.

Never touch the project before the journal is durable, and never remove a sandbox before the
record says that it may go.
"""
