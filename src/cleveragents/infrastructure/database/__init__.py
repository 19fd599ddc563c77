"""Stores plans, checkpoints and everything else that must survive the process.

The main objects: `unit_of_work.SqlDatabase` opens transactions, `UnitOfWork` is
one and gives access to the repositories, `session.DatabaseSession` runs the SQL, and a
`models.Model` maps one record class to its columns.

How a write works:

1. `Connections` opens the database at its first use; `schema` checks whose it
   is, creates it or migrates it.
2. `SqlDatabase.write` takes the write lock, then calls `on_begin`, which refuses
   a process whose lease another process has taken over.
3. A repository turns the record into a row with its `Model`, and `DatabaseSession` runs
   one of the repository's statements.
4. The repository stores the events that follow from the record.
5. The transaction commits, and `on_event` receives each new event.

Rules: a statement works on SQLite and PostgreSQL; stored data of earlier versions
stays readable; only `tables`, `migrate` and `migrations` describe the schema. The
package never touches a file that is not its own database, and never keeps a
transaction open while git or a tool runs.
"""
