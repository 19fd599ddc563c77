"""The `sql` tool: statements on a SQLite resource, in one transaction.

- `tool.run_sql` runs them; `guard` decides what a statement may do; `statements`
  splits the text into statements; `rows` formats the answer.

How it works:

1. Open the plan's copy of the database. Never create one.
2. Begin a transaction. From here on, `SqlGuard` checks each action of each statement
   and refuses what would reach another file or load code.
3. Run the statements in order and keep a bounded part of the rows.
4. Commit; or roll back if a statement fails, the time is up or the user stops the plan.

It never touches another database, and never leaves a half-done change.
"""
