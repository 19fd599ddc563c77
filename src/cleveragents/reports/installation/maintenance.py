"""Maintenance: what `agents gc` reclaimed, and which checkpoints are damaged."""

from __future__ import annotations

from collections.abc import Iterator

from cleveragents.domain.errors import SnapshotCorruptError
from cleveragents.domain.health.maintenance import (
    CollectedStore,
    GarbageReport,
    VerifiedCheckpoint,
    VerifyReport,
)
from cleveragents.domain.wording import counted, size
from cleveragents.reports.described import Description, Field
from cleveragents.reports.installation.layers import layers_data, layers_tables
from cleveragents.reports.report import Report

_SKIPPED = 3
_DAMAGED = 7
_DONE = ("Mirrors", "Reclaimed", "Removed")
_DRY_RUN = ("Dry run", "Reclaimable", "Would be removed")
_INTACT = "You can roll back to the checkpoints that are intact"


def _removed(store: CollectedStore) -> str:
    counts = (
        (store.snapshots_removed, "snapshot", "snapshots"),
        (store.objects_removed, "object", "objects"),
        (store.temporary_files_removed, "temporary file", "temporary files"),
        (len(store.sandboxes_removed), "sandbox", "sandboxes"),
    )
    removed = [counted(count, noun, plural) for count, noun, plural in counts if count]
    if removed or not store.bytes_reclaimed:
        return ", ".join(removed) or "nothing"
    return "nothing (repacking)"  # Packing what is kept more tightly saves the space.


_STORE = Description[CollectedStore](
    Field("project_key", "Mirror", lambda it: it.project_key),
    Field("path", None, lambda it: it.path),
    Field("bytes_before", None, lambda it: it.bytes_before),
    Field("bytes_after", "Still used", lambda it: it.bytes_after, lambda it: size(it.bytes_after)),
    Field(
        "bytes_reclaimed",
        "Reclaimed",
        lambda it: it.bytes_reclaimed,
        lambda it: size(it.bytes_reclaimed),
    ),
    Field("snapshots_removed", None, lambda it: it.snapshots_removed),
    Field("objects_removed", None, lambda it: it.objects_removed),
    Field("temporary_files_removed", None, lambda it: it.temporary_files_removed),
    Field("sandboxes_removed", None, lambda it: it.sandboxes_removed),
    Field("unknown_plans", None, lambda it: it.unknown_plans),
    Field("busy", None, lambda it: it.busy),
    Field("problem", None, lambda it: it.problem),
    Field(None, "Reclaimable", lambda it: size(it.bytes_reclaimed)),
    Field(None, "Removed", _removed),
    Field(None, "Would be removed", _removed),
)

_VERIFIED = Description[VerifiedCheckpoint](
    Field("checkpoint_id", "Checkpoint", lambda it: it.checkpoint_id),
    Field("group_id", None, lambda it: it.group_id),
    Field("label", "Label", lambda it: it.label),
    Field(
        "whole", "State", lambda it: it.is_whole, lambda it: "intact" if it.is_whole else "damaged"
    ),
    Field("problem", "Problem", lambda it: it.problem),
)


def garbage_report(report: GarbageReport) -> Report:
    stores = report.stores
    complete = all(store.is_complete for store in stores)
    title, reclaimed, removed = _DRY_RUN if report.dry_run else _DONE
    table = _STORE.table(
        title,
        stores,
        ("Mirror", reclaimed, "Still used", removed),
        empty="There are no mirrors yet.",
    )
    return Report(
        {
            "dry_run": report.dry_run,
            "stores": _STORE.list(stores),
            "layers": layers_data(report.layers),
            "summary": {
                "stores": len(stores),
                "bytes_reclaimed": report.bytes_reclaimed,
                "snapshots_removed": sum(store.snapshots_removed for store in stores),
                "temporary_files_removed": sum(store.temporary_files_removed for store in stores),
                "unfinished_sandbox_bytes": report.draft_bytes,
                "busy": sum(store.busy for store in stores),
            },
        },
        (table, *layers_tables(report.layers)),
        messages=(_closing(report),),
        did_something=not report.dry_run,
        status="ok" if complete else "warn",
        exit_code=0 if complete else _SKIPPED,
        warnings=tuple(sentence for store in stores for sentence in _warnings(store)),
    )


def _closing(report: GarbageReport) -> str:
    if not report.bytes_reclaimed:
        complete = all(store.is_complete for store in report.stores)
        return "Nothing to reclaim" if complete else "Nothing was reclaimed"
    amount = size(report.bytes_reclaimed)
    return f"{amount} would be reclaimed" if report.dry_run else f"Reclaimed {amount}"


def _warnings(store: CollectedStore) -> Iterator[str]:
    if store.problem is not None:
        outcome = "only partly cleaned" if store.bytes_reclaimed else "not cleaned"
        yield f"{store.project_key} was {outcome}: {store.problem}"
    if store.unknown_plans:
        plans = counted(len(store.unknown_plans), "plan")
        yield (
            f"{store.project_key} has snapshots of {plans} that are not in the database; "
            "they were kept, because the database may be older than that mirror, or the wrong one. "
            "`agents doctor` names them, and `agents doctor --adopt` makes records for them"
        )


def verify_report(report: VerifyReport) -> Report:
    checked, damaged = len(report.checkpoints), report.damaged
    table = _VERIFIED.table(
        f"Checkpoints of {report.plan_id}",
        report.checkpoints,
        ("Checkpoint", "Label", "State", "Problem"),
        empty="This plan has no checkpoints yet.",
    )
    closing = (
        f"{damaged} of {counted(checked, 'checkpoint')} cannot be restored"
        if damaged
        else f"Read back {counted(checked, 'checkpoint')}: all intact"
    )
    return Report(
        {
            "plan_id": report.plan_id,
            "checkpoints": _VERIFIED.list(report.checkpoints),
            "summary": {"checked": checked, "damaged": damaged},
        },
        (table,),
        messages=(closing,),
        status="error" if damaged else "ok",
        exit_code=_DAMAGED if damaged else 0,
        error=SnapshotCorruptError(closing, hint=_INTACT) if damaged else None,
    )
