"""Which objects of a store go, which packs are rewritten for that, and removing them.

Packs of which nothing is needed simply go. Those of which something is needed
are rewritten together with loose objects. What the project shares with the
store is left as it is: it costs nothing, and it is the project's.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from cleveragents.infrastructure.sandbox.gc.leftovers import is_recent
from cleveragents.infrastructure.sandbox.gc.reachability import (
    needed_objects,
    pack_signature,
    signature,
)
from cleveragents.infrastructure.sandbox.git.command import Git, git_on_mirror
from cleveragents.infrastructure.sandbox.store.packs import (
    LooseObjects,
    Pack,
    loose_objects,
    packs,
    remove_packs,
)
from cleveragents.infrastructure.sandbox.store.repacking import (
    expected_bytes,
    free_bytes,
    out_of_proportion,
    packing_room,
)


@dataclass(frozen=True)
class ObjectPlan:
    """What is kept and removed of the objects of a mirror, decided before anything is touched."""

    seen: object
    """The mirror as it was read; later changes may need what is about to go."""
    seen_packs: dict[str, tuple[int, float]]
    dead: Sequence[Pack]
    """Packs of which nothing is needed."""
    unneeded: Sequence[LooseObjects]
    rewritten: Sequence[Pack]
    packed: Sequence[LooseObjects]
    """Loose objects that go into the new pack."""
    options: Sequence[str]
    listing: bytes
    """What the new pack is to hold, for git; empty when there is none to write."""
    gone_at_once: int
    gone_by_rewriting: int

    @property
    def space(self) -> int:
        """The most that the new pack can take."""
        return sum(item.size for item in (*self.rewritten, *self.packed))


@dataclass(frozen=True)
class ObjectOutcome:
    """How many objects went, and why not all that could have gone."""

    removed: int
    problem: str | None = None


def plan_objects(
    git: Git, store: Path, refs: Collection[str], removed: Collection[Path]
) -> ObjectPlan:
    """Decides what stays.

    Args:
        git: Any git.
        store: The mirror.
        refs: The ids that the refs to be kept point to.
        removed: Files that will be gone.

    Raises:
        GitCommandError: something that is needed is missing.
    """
    inside = git_on_mirror(git, store)
    # Taken before anything else is read: whatever git does in a sandbox from now on makes the
    # signatures differ, and then `carry_out` removes nothing.
    seen, seen_packs = signature(inside, store), pack_signature(store)
    present = packs(store)
    mine = {pack: pack.object_ids() for pack in present if _may_go(pack, removed)}
    loose = [item for item in loose_objects(store) if not item.is_borrowed]
    owned = {item.object_id for item in loose}.union(*mine.values())
    needed = needed_objects(inside, store, refs, owned)

    # A pack goes as a whole, is rewritten without what nothing needs, or stays as it is.
    # Small ones among the last are combined with the new pack, or their number would grow.
    dead = [pack for pack, ids in mine.items() if needed.ids.isdisjoint(ids)]
    mixed = [pack for pack, ids in mine.items() if pack not in dead and not ids <= needed.ids]
    whole = [pack for pack in mine if pack not in dead and pack not in mixed]
    rewritten = [*mixed, *out_of_proportion(whole)]
    packed = [item for item in loose if item.object_id in needed.ids]
    # A git in a sandbox writes an object first and what leads to it afterwards, so a young
    # object that nothing leads to may be needed in a moment.
    unneeded = [
        item for item in loose if item.object_id not in needed.ids and not is_recent(item.modified)
    ]

    # An object may be in several packs: what a pack that stays holds need not be written again.
    stays = set[bytes]().union(*(mine[pack] for pack in whole if pack not in rewritten))
    moving = {item.object_id for item in packed}.union(*(mine[pack] for pack in rewritten))
    moving -= stays
    lines = [line for line in needed.listing if bytes.fromhex(line[:40].decode()) in moving]

    # Two numbers, because rewriting needs free space: without it, only the first is true.
    at_once = {item.object_id for item in unneeded}.union(*(mine[pack] for pack in dead))
    by_rewriting = set[bytes]().union(*(mine[pack] for pack in mixed)) - needed.ids
    return ObjectPlan(
        seen=seen,
        seen_packs=seen_packs,
        dead=dead,
        unneeded=unneeded,
        rewritten=rewritten,
        packed=packed,
        options=[f"--keep-pack={pack.path.name}.pack" for pack in present if pack not in mine],
        listing=b"".join(line + b"\n" for line in lines),
        gone_at_once=len(at_once),
        gone_by_rewriting=len(by_rewriting - at_once),
    )


def _may_go(pack: Pack, removed: Collection[Path]) -> bool:
    """Whether it is ours to remove; what git set aside a moment ago, it may want back."""
    is_kept = pack.is_kept and pack.path.with_suffix(".keep") not in removed
    return not (pack.is_borrowed or is_kept or (pack.is_special and is_recent(pack.modified)))


def foresee(git: Git, store: Path, plan: ObjectPlan) -> int:
    """Returns how many bytes carrying out the plan would give back."""
    items = (*plan.dead, *plan.rewritten, *plan.unneeded, *plan.packed)
    new = expected_bytes(git, store, plan.options, plan.listing) if plan.listing else 0
    return sum(item.disk_bytes for item in items) - new


def carry_out(git: Git, store: Path, plan: ObjectPlan) -> ObjectOutcome:
    """Writes the new pack, and removes the old ones when nothing happened meanwhile.

    Raises:
        GitCommandError: the new pack could not be written; nothing was removed.
        OSError: likewise.
    """
    with packing_room(store, git) as room:
        if room is None:
            return ObjectOutcome(0, "its packs are being combined")
        missing_space = plan.space - free_bytes(store)
        fits = missing_space <= 0
        written = room.write(plan.options, plan.listing) if plan.listing and fits else None
        # Checked as late as possible: from here on packs go, and the new one is durable.
        if _has_changed(git, store, plan, written):
            return ObjectOutcome(0, "git is at work in one of its sandboxes")
        remove_packs(store, plan.dead)
        _remove_loose(plan.unneeded)
        if plan.listing and not fits:
            return ObjectOutcome(
                plan.gone_at_once,
                f"packing the rest again needs {missing_space} more bytes on the disk",
            )
        remove_packs(store, [pack for pack in plan.rewritten if pack.path.name != written])
        _remove_loose(plan.packed)
    return ObjectOutcome(plan.gone_at_once + plan.gone_by_rewriting)


def _has_changed(git: Git, store: Path, plan: ObjectPlan, written: str | None) -> bool:
    """A git in a sandbox may just have begun to need what is about to go."""
    now = pack_signature(store)
    names = (plan.seen_packs.keys() | now.keys()) - {written}
    packs_differ = any(plan.seen_packs.get(name) != now.get(name) for name in names)
    return packs_differ or signature(git_on_mirror(git, store), store) != plan.seen


def _remove_loose(doomed: Sequence[LooseObjects]) -> None:
    for item in doomed:
        item.path.unlink(missing_ok=True)
