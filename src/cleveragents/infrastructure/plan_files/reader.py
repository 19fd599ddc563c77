"""The port `PlanFiles` for plan files in YAML."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias, cast

from msgspec.structs import replace

from cleveragents.application.ports.plans import PlanFiles
from cleveragents.domain.plans.plan_file import PlanDefinition, check_templates, default_resources
from cleveragents.domain.tools.tool import ToolSpec
from cleveragents.infrastructure.plan_files.checks import check_plan
from cleveragents.infrastructure.plan_files.commands import check_validations, own_tools
from cleveragents.infrastructure.plan_files.schema import validated
from cleveragents.infrastructure.plan_files.steps import StepChecks
from cleveragents.infrastructure.plan_files.yaml_document import read_document

Tools: TypeAlias = dict[str, ToolSpec]


class YamlPlanFiles(PlanFiles):
    """Plan files in YAML; a file is checked completely before any of it runs."""

    def __init__(self, tools: Mapping[str, ToolSpec]) -> None:
        self._tools = tools

    def load(self, path: Path) -> PlanDefinition:
        document = read_document(path)
        definition = validated(document)
        check_plan(document, definition)
        tools = own_tools(document, definition.tools)
        check_validations(document, definition)
        resources = definition.resources or default_resources()
        # Chained, not merged: a package's tool is only imported when a step names it.
        known = ChainMap(tools, cast("Tools", self._tools))
        steps = StepChecks(document, resources, known, definition.policy).checked(
            definition.steps, (), set()
        )
        loaded = replace(definition, resources=resources, tools=tools, steps=steps)
        for problem in check_templates(loaded, loaded.arguments):
            raise document.error(problem.location, problem.message, hint=problem.hint)
        return loaded
