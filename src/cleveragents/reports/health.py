"""What `agents doctor` found: the checks, what helps, and where the space goes."""

from __future__ import annotations

from collections.abc import Iterator

from cleveragents.domain.health import Check, CheckStatus, HealthReport, ProjectDisk
from cleveragents.reports.report import Fields, Report, Section, Status, Table
from cleveragents.reports.words import counted, size

_FAILED = 1
_SKIPPED = 3


def health_report(report: HealthReport) -> Report:
    problems = report.count(CheckStatus.PROBLEM)
    warnings = report.count(CheckStatus.WARNING)
    status: Status = "error" if problems else "warn" if warnings else "ok"
    return Report(
        _data(report),
        tuple(_sections(report)),
        messages=(_closing(report),),
        status=status,
        exit_code=_FAILED if problems else _SKIPPED if report.skipped else 0,
    )


def _data(report: HealthReport) -> dict[str, object]:
    return {
        "fix": report.fix,
        "quick": report.quick,
        "checks": [_check_data(check) for check in report.checks],
        "versions": report.versions,
        "paths": report.paths,
        "disk": {
            "total_bytes": report.disk.total_bytes,
            "projects": [_project_data(project) for project in report.disk.projects],
        },
        "summary": {
            "ok": report.count(CheckStatus.OK),
            "warnings": report.count(CheckStatus.WARNING),
            "problems": report.count(CheckStatus.PROBLEM),
            "fixed": report.count(CheckStatus.FIXED),
        },
    }


def _check_data(check: Check) -> dict[str, object]:
    return {
        "name": check.name,
        "status": check.status,
        "message": check.message,
        "hint": check.hint,
        "skipped": check.skipped,
        "details": check.details,
    }


def _project_data(project: ProjectDisk) -> dict[str, object]:
    return {
        "key": project.key,
        "project": project.project,
        "bytes": project.bytes,
        "store_bytes": project.store_bytes,
        "plans": [plan.model_dump() for plan in project.plans],
    }


def _sections(report: HealthReport) -> Iterator[Section]:
    rows = tuple((check.name, check.status.value, check.message) for check in report.checks)
    yield Table("Checks", ("Check", "State", "Found"), rows)
    hints = tuple((check.name, check.hint) for check in report.checks if check.hint is not None)
    if hints:
        yield Table("What helps", ("Check", "Do this"), hints)
    if report.disk.projects:
        yield _disk_table(report)
    versions = [(name, version) for name, version in report.versions.items() if version is not None]
    yield Fields("Versions", tuple(versions))
    yield Fields("Paths", tuple(report.paths.items()))


def _disk_table(report: HealthReport) -> Table:
    rows = tuple(
        (
            project.project or project.key,
            size(project.bytes),
            size(project.store_bytes),
            plan.plan_id if plan else "",
            size(plan.sandbox_bytes) if plan else "",
            str(plan.checkpoints) if plan else "",
        )
        for project in report.disk.projects
        for plan in project.plans or (None,)
    )
    columns = ("Project", "All", "Store", "Plan", "Sandbox", "Checkpoints")
    return Table(f"Disk use, {size(report.disk.total_bytes)} in all", columns, rows)


def _closing(report: HealthReport) -> str:
    counts = (
        (report.count(CheckStatus.PROBLEM), "problem"),
        (report.count(CheckStatus.WARNING), "warning"),
    )
    left = " and ".join(counted(count, noun) for count, noun in counts if count)
    fixed = report.count(CheckStatus.FIXED)
    if fixed:
        mended = f"Mended {counted(fixed, 'thing')}"
        return f"{mended}, with {left} left" if left else f"{mended}: all is well"
    if report.count(CheckStatus.PROBLEM):
        return f"Found {left}"
    return f"Nothing is broken, with {left}" if left else "All is well"
