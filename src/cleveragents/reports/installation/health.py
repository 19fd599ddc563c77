"""Health: what `agents doctor` checked, what helps, and what uses disk space."""

from __future__ import annotations

from collections.abc import Iterator

from cleveragents.domain.errors import UnhealthyError
from cleveragents.domain.health.health import (
    Check,
    CheckStatus,
    HealthReport,
    PlanDisk,
    ProjectDisk,
)
from cleveragents.domain.wording import counted, size
from cleveragents.reports.described import Description, Field
from cleveragents.reports.installation.layers import layers_data, layers_tables
from cleveragents.reports.report import Column, Fields, Report, Section, Status, Table

_FAILED = 1
_SKIPPED = 3

_CHECK = Description[Check](
    Field("name", "Check", lambda it: it.name),
    Field("status", "State", lambda it: it.status),
    Field("message", "Found", lambda it: it.message),
    Field("hint", "Suggested fix", lambda it: it.hint),
    Field("skipped", None, lambda it: it.skipped),
    Field("details", None, lambda it: it.details),
)

_PROJECT = Description[ProjectDisk](
    Field("key", None, lambda it: it.key),
    Field("project", None, lambda it: it.project),
    Field("bytes", None, lambda it: it.bytes),
    Field("store_bytes", None, lambda it: it.store_bytes),
    Field("plans", None, lambda it: [plan.model_dump() for plan in it.plans]),
)


def health_report(report: HealthReport) -> Report:
    problems = report.count(CheckStatus.PROBLEM)
    warnings = report.count(CheckStatus.WARNING)
    status: Status = "error" if problems else "warn" if warnings else "ok"
    return Report(
        _data(report),
        tuple(_sections(report)),
        messages=(_closing(report),),
        did_something=report.count(CheckStatus.FIXED) > 0,
        status=status,
        exit_code=_FAILED if problems else _SKIPPED if report.skipped else 0,
        error=UnhealthyError(_closing(report), hint=_first_hint(report)) if problems else None,
    )


def _first_hint(report: HealthReport) -> str | None:
    """Returns what helps against the first problem."""
    problems = (check for check in report.checks if check.status is CheckStatus.PROBLEM)
    return next((check.hint for check in problems if check.hint is not None), None)


def _data(report: HealthReport) -> dict[str, object]:
    return {
        "fix": report.fix,
        "quick": report.quick,
        "checks": _CHECK.list(report.checks),
        "versions": report.versions,
        "paths": report.paths,
        "disk": {
            "total_bytes": report.disk.total_bytes,
            "projects": _PROJECT.list(report.disk.projects),
            "layers": layers_data(report.disk.layers),
        },
        "summary": {
            "ok": report.count(CheckStatus.OK),
            "warnings": report.count(CheckStatus.WARNING),
            "problems": report.count(CheckStatus.PROBLEM),
            "fixed": report.count(CheckStatus.FIXED),
        },
    }


def _sections(report: HealthReport) -> Iterator[Section]:
    yield _CHECK.table("Checks", report.checks, ("Check", "State", "Found"))
    with_hint = [check for check in report.checks if check.hint is not None]
    if with_hint:
        yield _CHECK.table("Suggested fixes", with_hint, ("Check", "Suggested fix"))
    if report.disk.projects:
        yield _disk_table(report)
    yield from layers_tables(report.disk.layers)
    versions = [(name, version) for name, version in report.versions.items() if version is not None]
    yield Fields("Versions", tuple(versions))
    yield Fields("Paths", tuple(report.paths.items()))


def _disk_table(report: HealthReport) -> Table:
    rows = tuple(
        (project.project or project.key, *_project_cells(project, number), *_plan_cells(plan))
        for project in report.disk.projects
        for number, plan in enumerate(project.plans or (None,))
    )
    columns = ("Project", "Total", "Mirror", "Plan", "Sandbox", "Checkpoints")
    projects, totals, mirrors, *others = zip(*rows, strict=True)
    lines = (
        Column("Project", projects, cut="start"),
        Column("Total", totals),
        Column("Mirror", mirrors, optional=True),
        *(Column(heading, values) for heading, values in zip(columns[3:], others, strict=True)),
    )
    title = f"Disk usage, {size(report.disk.total_bytes)} in total"
    return Table(title, columns, rows, lines=lines)


def _project_cells(project: ProjectDisk, number: int) -> tuple[str, str]:
    """Returns what a project takes; once, because each of its plans has a row."""
    return ("", "") if number else (size(project.bytes), size(project.store_bytes))


def _plan_cells(plan: PlanDisk | None) -> tuple[str, str, str]:
    if plan is None:
        return "", "", ""
    return plan.plan_id, size(plan.sandbox_bytes), str(plan.checkpoints)


def _closing(report: HealthReport) -> str:
    counts = (
        (report.count(CheckStatus.PROBLEM), "problem"),
        (report.count(CheckStatus.WARNING), "warning"),
    )
    left = " and ".join(counted(count, noun) for count, noun in counts if count)
    fixed = report.count(CheckStatus.FIXED)
    if fixed:
        return f"Fixed {counted(fixed, 'issue')}; {left or 'no problems'} left"
    if report.count(CheckStatus.PROBLEM):
        return f"Found {left}"
    return f"Found no problems and {left}" if left else "Found no problems"
