"""Validations: commands that check a plan's result before it is applied."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from cleveragents.domain.plans.template import names_in
from cleveragents.domain.record import Record
from cleveragents.domain.tools.tool import (
    DEFAULT_TIMEOUT_SECONDS,
    ParameterType,
    TimeoutSeconds,
    ToolParameter,
    ToolSpec,
)


class ValidationMode(StrEnum):
    """What a failure means."""

    REQUIRED = "required"
    """The plan is not applied."""
    INFORMATIONAL = "informational"
    """It is recorded and shown."""


class ValidationDefinition(Record):
    """One command; exit status 0 means that it passed."""

    name: str
    run: str
    """A command for `/bin/sh`, whose placeholders are arguments of the plan."""
    mode: ValidationMode = ValidationMode.REQUIRED
    timeout: TimeoutSeconds = DEFAULT_TIMEOUT_SECONDS

    @property
    def tool(self) -> ToolSpec:
        """The command as a tool that only reads; each argument arrives as one word."""
        return ToolSpec(
            name=self.name,
            parameters={
                name: ToolParameter(type=ParameterType.STRING, description="")
                for name in names_in(self.run)
            },
            read_only=True,
            timeout=self.timeout,
            run=self.run,
        )


class Requirement(Record):
    """What the result must have, or what must stay true."""

    text: str
    """For people."""
    validation: str | None = None
    """The required validation that checks it; None if whoever applies the plan judges it."""


class ValidationStatus(StrEnum):
    """How a validation ended."""

    PASSED = "passed"
    FAILED = "failed"


class ValidationResult(Record):
    """One run of one validation."""

    id: str
    plan_id: str
    name: str
    mode: ValidationMode
    status: ValidationStatus
    message: str | None
    """Why it failed."""
    output: str
    changed: tuple[str, ...]
    """What it changed in the sandboxes; those changes were undone."""
    started_at: datetime
    finished_at: datetime
    stderr: tuple[tuple[int, int], ...] = ()
    """Which characters of the output came from standard error: ranges, the end excluded."""

    @property
    def blocks(self) -> bool:
        """Whether the plan must not be applied because of it."""
        return self.mode is ValidationMode.REQUIRED and self.status is ValidationStatus.FAILED

    @property
    def duration_ms(self) -> int:
        return round((self.finished_at - self.started_at).total_seconds() * 1000)


class RequirementStatus(StrEnum):
    """Whether a requirement is met."""

    OPEN = "open"
    """Nobody has checked it yet."""
    MET = "met"
    """Its validation passed when it last ran."""
    NOT_MET = "not_met"
    """Its validation failed when it last ran."""
    ACCEPTED = "accepted"
    """No validation checks it, and the user has applied the plan."""


def requirement_status(
    requirement: Requirement, results: Sequence[ValidationResult], *, applied: bool
) -> RequirementStatus:
    """Returns whether a requirement is met.

    Args:
        requirement: The requirement.
        results: What the validations of its plan said last.
        applied: Whether the plan is applied.
    """
    if requirement.validation is None:
        return RequirementStatus.ACCEPTED if applied else RequirementStatus.OPEN
    said = {item.name: item.status for item in results}.get(requirement.validation)
    if said is None:
        return RequirementStatus.OPEN
    passed = said is ValidationStatus.PASSED
    return RequirementStatus.MET if passed else RequirementStatus.NOT_MET
