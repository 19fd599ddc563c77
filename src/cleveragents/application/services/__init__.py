"""Services: what users can do with plans, one module per service.

`cleveragents.container` builds them; nothing else does. The call path of a write is
`PlanExecutor` -> `ToolRunner` -> `CheckpointService` (whether a checkpoint is due) ->
`GroupRecorder` (takes it) -> `CheckpointManager` (infrastructure).

- `plan_service`, `plan_executor`, `plan_resume_service`: create, run and resume plans
- `checkpoint_service`, `retention_service`: take, list, pin and prune checkpoints; roll back
- `correction_service`, `decision_service`, `conflict_service`: decisions and what follows
- `plan_apply_service`, `artifact_service`: the result, and bringing it into the project
- `doctor_service`, `maintenance_service`, `log_service`: health, space, history
- `recovery`: finishes whatever a killed process left unfinished

The packages hold the parts that several services share: `checkpoints`, `rollback`, `execution`,
`subplans`, `apply`, `health`.

A service never starts git, opens a file or prints. It changes a plan only while it holds the
plan's lease, and it keeps no transaction open while git or a tool runs.
"""
