"""Reads plan files and refuses every file that does not mean exactly what it says.

`docs/reference/plan-file.md` is the reference for users. The schema (fields, types, bounds and
defaults) is declared once, in the records of `cleveragents.domain.plans.plan_file`.

Main objects:
    reader.YamlPlanFiles: the port `PlanFiles`; `load` returns a `PlanDefinition`.
    yaml_document.YamlDocument: plain data, and the line on which each value begins.
    schema: fills in what a file may leave out, and compares the result with the records.
    checks, steps, commands: rules that need more than one value, such as "this tool exists".

Algorithm:
    1. Parse the YAML, within bounds on size and depth, and remember the line of every value.
    2. Complete the data: the name and tool of a step, the name of a tool.
    3. Compare it with the types of the records. Each problem has a location, and the document
       knows the line. An unknown key is reported first, with the nearest valid key.
    4. Check names, arguments, resources, commands and steps from top to bottom.
    5. Check that every placeholder names something the step can know.
    The first problem raises `PlanFileError` with its line and, if possible, a hint.

Never ignore a key or convert a value silently, never run anything that the file names, and never
import a package's tool unless a step uses it.
"""

from cleveragents.infrastructure.plan_files.reader import YamlPlanFiles

__all__ = ["YamlPlanFiles"]
