"""How many checkpoints a plan keeps, and which are removed first."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from cleveragents.domain.plans.session import SessionTrigger
from cleveragents.domain.record import Record
from cleveragents.domain.wording import counted

_KEPT = (SessionTrigger.START, SessionTrigger.END)
_PASSING = SessionTrigger.BURST


class CheckpointRetentionPolicy(Record):
    """The limit counts different states: groups of one state count once."""

    max_checkpoints_per_plan: int = 50
    max_checkpoints_per_session: int = 1000
    setting: str = "sandbox.checkpoint.max-checkpoints-per-plan"
    """What the user changes to keep more."""

    def of_plan(self, *, is_session: bool) -> CheckpointRetentionPolicy:
        """Returns the policy for a plan; a session has a limit of its own."""
        if not is_session:
            return self
        return CheckpointRetentionPolicy(
            max_checkpoints_per_plan=self.max_checkpoints_per_session,
            setting="session.max-checkpoints",
        )

    def __post_init__(self) -> None:
        if self.max_checkpoints_per_plan < 1:
            raise ValueError("A plan must be able to keep a checkpoint")


class RetentionSummary(msgspec.Struct, frozen=True):
    """What the limit has left and taken of a plan's checkpoints."""

    limit: int
    states: int
    """How many different states are kept, apart from those of safety checkpoints."""
    dropped: int
    """How many checkpoints the limit has taken, counting those of one moment once."""
    setting: str
    """What the user changes to keep more."""

    @property
    def messages(self) -> tuple[str, ...]:
        """What the user should know about it: one sentence, or nothing."""
        if not self.dropped:
            return ()
        what = counted(self.dropped, "older checkpoint")
        verb = "was" if self.dropped == 1 else "were"
        return (
            f"{what} {verb} dropped: a plan keeps {counted(self.limit, 'different state')}. Run "
            f"`agents config set {self.setting} NUMBER` to keep more",
        )


class CountedGroup(msgspec.Struct, frozen=True):
    """A group that counts toward the limit; safety checkpoints do not."""

    id: str
    state: str
    """Equal for groups of one state of all resources."""
    pinned: bool
    trigger: str = ""
    """What made its first checkpoint."""


def select_for_pruning(
    groups: Iterable[CountedGroup], policy: CheckpointRetentionPolicy, needed: Collection[str]
) -> list[str]:
    """Returns the ids of the groups to remove so that the limit is met.

    A state is removed with all its groups, beginning with the state that was seen least
    recently. States that a session only passed through while it wrote are removed before all
    others. A state stays if one of its groups is the first, the newest, pinned, the start or the
    end of a session, or in `needed`, even if that exceeds the limit; with a limit of 1 the first
    may be removed.

    Args:
        groups: Those of one plan that count, oldest first.
        policy: The limit.
        needed: Group ids that the plan or an unfinished operation refers to.
    """
    every = list(groups)
    limit = policy.max_checkpoints_per_plan
    ends = {group.id for group in (every[-1:] if limit == 1 else every[:1] + every[-1:])}
    states: dict[str, list[CountedGroup]] = {}
    for group in every:
        # Taking it out and putting it back moves the state to the end.
        states[group.state] = [*states.pop(group.state, ()), group]
    droppable = [
        members
        for members in states.values()
        if not any(
            item.pinned or item.id in ends or item.id in needed or item.trigger in _KEPT
            for item in members
        )
    ]
    # The order within both parts stays.
    droppable.sort(key=lambda members: any(item.trigger != _PASSING for item in members))
    excess = max(len(states) - limit, 0)
    return [item.id for members in droppable[:excess] for item in members]
