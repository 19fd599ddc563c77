"""Whatever a plan keeps, pruning drops no more than it must and nothing that is needed."""

from __future__ import annotations

import unittest

from hypothesis import given
from hypothesis import strategies as st

from cleveragents.domain.checkpoints.retention import (
    CheckpointRetentionPolicy,
    CountedGroup,
    select_for_pruning,
)

Group = tuple[int, bool]
"""The state of a group, and whether it is pinned."""


def numbered(groups: list[Group]) -> list[CountedGroup]:
    return [
        CountedGroup(f"group-{number}", f"state-{state}", pinned)
        for number, (state, pinned) in enumerate(groups)
    ]


groups_of_a_plan = st.lists(st.tuples(st.integers(0, 15), st.booleans()), max_size=30).map(numbered)
policies = st.integers(1, 12).map(
    lambda limit: CheckpointRetentionPolicy(max_checkpoints_per_plan=limit)
)
needs = st.sets(st.integers(0, 29).map(lambda number: f"group-{number}"), max_size=5)


def states_of(groups: list[CountedGroup]) -> set[str]:
    return {group.state for group in groups}


class Retention(unittest.TestCase):
    @given(groups_of_a_plan, policies, needs)
    def test_what_is_needed_stays(
        self, groups: list[CountedGroup], policy: CheckpointRetentionPolicy, needed: set[str]
    ) -> None:
        dropped = select_for_pruning(groups, policy, needed)
        for group in groups:
            if group.pinned or group.id in needed or group is groups[-1]:
                self.assertNotIn(group.id, dropped)

    @given(groups_of_a_plan, policies, needs)
    def test_the_limit_holds_or_every_state_left_has_a_reason_to_stay(
        self, groups: list[CountedGroup], policy: CheckpointRetentionPolicy, needed: set[str]
    ) -> None:
        dropped = select_for_pruning(groups, policy, needed)
        kept = [group for group in groups if group.id not in dropped]
        if len(states_of(kept)) > policy.max_checkpoints_per_plan:
            held = {
                group.state
                for group in groups
                if group.pinned or group.id in needed or group in (groups[0], groups[-1])
            }
            self.assertLessEqual(states_of(kept), held)

    @given(groups_of_a_plan, policies, needs)
    def test_no_more_states_go_than_the_limit_asks_and_each_goes_whole(
        self, groups: list[CountedGroup], policy: CheckpointRetentionPolicy, needed: set[str]
    ) -> None:
        dropped = select_for_pruning(groups, policy, needed)
        gone = states_of([group for group in groups if group.id in dropped])
        kept = states_of([group for group in groups if group.id not in dropped])
        self.assertFalse(gone & kept)
        excess = max(0, len(states_of(groups)) - policy.max_checkpoints_per_plan)
        self.assertLessEqual(len(gone), excess)

    @given(groups_of_a_plan, policies, needs)
    def test_pruning_twice_is_pruning_once(
        self, groups: list[CountedGroup], policy: CheckpointRetentionPolicy, needed: set[str]
    ) -> None:
        dropped = select_for_pruning(groups, policy, needed)
        kept = [group for group in groups if group.id not in dropped]
        self.assertEqual(select_for_pruning(kept, policy, needed), [])
