"""Whatever a plan keeps, pruning drops no more than it must and nothing that is needed."""

from __future__ import annotations

import unittest
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from cleveragents.domain.checkpoints.checkpoint import CheckpointGroup
from cleveragents.domain.checkpoints.retention import CheckpointRetentionPolicy, select_for_pruning

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def group(number: int, *, pinned: bool) -> CheckpointGroup:
    return CheckpointGroup(
        id=f"group-{number}",
        plan_id="plan",
        sequence=number,
        created_at=MOMENT,
        snapshots={},
        state_hashes={},
        pinned=pinned,
        set_aside_by=None,
    )


groups_of_a_plan = st.lists(st.booleans(), max_size=30).map(
    lambda pins: [group(number, pinned=pinned) for number, pinned in enumerate(pins)]
)
policies = st.integers(1, 12).map(
    lambda limit: CheckpointRetentionPolicy(max_checkpoints_per_plan=limit)
)
needs = st.sets(st.integers(0, 29).map(lambda number: f"group-{number}"), max_size=5)


class Retention(unittest.TestCase):
    @given(groups_of_a_plan, policies, needs)
    def test_what_is_needed_stays(
        self,
        groups: list[CheckpointGroup],
        policy: CheckpointRetentionPolicy,
        needed: set[str],
    ) -> None:
        for dropped in select_for_pruning(groups, len(groups), policy, needed):
            self.assertFalse(dropped.pinned)
            self.assertNotIn(dropped.id, needed)
            self.assertIsNot(dropped, groups[-1])

    @given(groups_of_a_plan, policies, needs)
    def test_the_limit_holds_or_everything_left_has_a_reason_to_stay(
        self,
        groups: list[CheckpointGroup],
        policy: CheckpointRetentionPolicy,
        needed: set[str],
    ) -> None:
        dropped = select_for_pruning(groups, len(groups), policy, needed)
        kept = [each for each in groups if each not in dropped]
        if len(kept) > policy.max_checkpoints_per_plan:
            ends = {groups[0].id, groups[-1].id}
            for each in kept:
                self.assertTrue(each.pinned or each.id in needed or each.id in ends)

    @given(groups_of_a_plan, policies, needs)
    def test_no_more_goes_than_the_limit_asks_and_the_oldest_first(
        self,
        groups: list[CheckpointGroup],
        policy: CheckpointRetentionPolicy,
        needed: set[str],
    ) -> None:
        dropped = select_for_pruning(groups, len(groups), policy, needed)
        excess = max(0, len(groups) - policy.max_checkpoints_per_plan)
        self.assertLessEqual(len(dropped), excess)
        self.assertEqual(dropped, sorted(dropped, key=lambda each: each.sequence))

    @given(groups_of_a_plan, policies, needs)
    def test_pruning_twice_is_pruning_once(
        self,
        groups: list[CheckpointGroup],
        policy: CheckpointRetentionPolicy,
        needed: set[str],
    ) -> None:
        dropped = select_for_pruning(groups, len(groups), policy, needed)
        kept = [each for each in groups if each not in dropped]
        self.assertEqual(select_for_pruning(kept, len(kept), policy, needed), [])
