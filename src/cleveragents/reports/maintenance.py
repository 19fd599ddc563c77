"""What was reclaimed, and which checkpoints are whole."""

from __future__ import annotations

from collections.abc import Iterator

from cleveragents.domain.maintenance import (
    CollectedStore,
    GarbageReport,
    VerifiedCheckpoint,
    VerifyReport,
)
from cleveragents.reports.report import Report, Table
from cleveragents.reports.words import counted, size

_SKIPPED = 3
_DAMAGED = 7


def garbage_report(report: GarbageReport) -> Report:
    complete = all(store.is_complete for store in report.stores)
    return Report(
        {
            "dry_run": report.dry_run,
            "stores": [_store_data(store) for store in report.stores],
            "summary": {
                "stores": len(report.stores),
                "bytes_reclaimed": report.bytes_reclaimed,
                "snapshots_removed": sum(store.snapshots_removed for store in report.stores),
                "temporary_files_removed": sum(
                    store.temporary_files_removed for store in report.stores
                ),
                "unfinished_sandbox_bytes": report.draft_bytes,
                "busy": sum(store.busy for store in report.stores),
            },
        },
        (_store_table(report),),
        messages=(_closing(report),),
        status="ok" if complete else "warn",
        exit_code=0 if complete else _SKIPPED,
        warnings=tuple(sentence for store in report.stores for sentence in _warnings(store)),
    )


def _store_data(store: CollectedStore) -> dict[str, object]:
    return {
        "project_key": store.project_key,
        "path": store.path,
        "bytes_before": store.bytes_before,
        "bytes_after": store.bytes_after,
        "bytes_reclaimed": store.bytes_reclaimed,
        "snapshots_removed": store.snapshots_removed,
        "objects_removed": store.objects_removed,
        "temporary_files_removed": store.temporary_files_removed,
        "sandboxes_removed": list(store.sandboxes_removed),
        "unknown_plans": list(store.unknown_plans),
        "busy": store.busy,
        "problem": store.problem,
    }


def _store_table(report: GarbageReport) -> Table:
    rows = tuple(
        (
            store.project_key,
            size(store.bytes_reclaimed),
            size(store.bytes_after),
            _what_went(store),
        )
        for store in report.stores
    )
    title, went = ("Rehearsal", "Would go") if report.dry_run else ("Stores", "Removed")
    columns = ("Store", "Reclaimed", "Still used", went)
    return Table(title, columns, rows, empty="There are no stores yet.")


def _what_went(store: CollectedStore) -> str:
    counts = (
        (store.snapshots_removed, "snapshot"),
        (store.objects_removed, "object"),
        (store.temporary_files_removed, "temporary file"),
        (len(store.sandboxes_removed), "sandbox"),
    )
    return ", ".join(_counted(count, noun) for count, noun in counts if count) or "nothing"


def _counted(count: int, noun: str) -> str:
    return f"{count} sandboxes" if noun == "sandbox" and count > 1 else counted(count, noun)


def _closing(report: GarbageReport) -> str:
    if not report.bytes_reclaimed:
        complete = all(store.is_complete for store in report.stores)
        return "Nothing to reclaim" if complete else "Nothing was reclaimed"
    amount = size(report.bytes_reclaimed)
    return f"{amount} would be reclaimed" if report.dry_run else f"Reclaimed {amount}"


def _warnings(store: CollectedStore) -> Iterator[str]:
    if store.problem is not None:
        partly = "cleaned only in part" if store.bytes_reclaimed else "left alone"
        yield f"{store.project_key} was {partly}: {store.problem}"
    if store.unknown_plans:
        plans = counted(len(store.unknown_plans), "plan")
        yield (
            f"{store.project_key} holds snapshots of {plans} that the database does not know; "
            "they were left alone, because it knows no other plan of that store"
        )


def verify_report(report: VerifyReport) -> Report:
    checked, damaged = len(report.checkpoints), report.damaged
    rows = tuple(
        (
            item.checkpoint_id,
            item.label,
            "whole" if item.is_whole else "damaged",
            item.problem or "",
        )
        for item in report.checkpoints
    )
    table = Table(
        f"Checkpoints of {report.plan_id}",
        ("Checkpoint", "Label", "State", "Problem"),
        rows,
        empty="This plan has no checkpoints yet.",
    )
    closing = (
        f"{damaged} of {counted(checked, 'checkpoint')} cannot be gone back to"
        if damaged
        else f"Read back {counted(checked, 'checkpoint')}: all whole"
    )
    return Report(
        {
            "plan_id": report.plan_id,
            "checkpoints": [_verified_data(item) for item in report.checkpoints],
            "summary": {"checked": checked, "damaged": damaged},
        },
        (table,),
        messages=(closing,),
        status="error" if damaged else "ok",
        exit_code=_DAMAGED if damaged else 0,
    )


def _verified_data(item: VerifiedCheckpoint) -> dict[str, object]:
    return {
        "checkpoint_id": item.checkpoint_id,
        "group_id": item.group_id,
        "label": item.label,
        "whole": item.is_whole,
        "problem": item.problem,
    }
