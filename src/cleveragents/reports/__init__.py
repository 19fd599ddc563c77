"""Turns results of the services into data for programs and sections for people.

Every user interface (the command line, and later the web page and the MCP server) calls a
function of this package and prints what it returns.

`Report` is the outcome of one command: `data` is what JSON and YAML have (a stable contract:
fields are added, never changed), `sections` are the same facts as `Fields`, `Table` and
`Text` for people. `Failure` is the same for a command that failed. A `Description` lists the
fields of one kind of record once, with their names in documents and their headings, so that
data and tables cannot disagree. `document.jsonable` turns data into plain JSON values.

1. A service returns a frozen result, such as `RollbackResult`.
2. The module named after the noun (`checkpoints.rollbacks`) makes a `Report` from it.
3. The interface chooses a printer for the report, and adds its own envelope.

It must not print, ask, read files, read the environment, or import a terminal library, the
container or the infrastructure.
"""

from cleveragents.reports.report import Failure, Fields, Report, Section, Table, Text

__all__ = ["Failure", "Fields", "Report", "Section", "Table", "Text"]
