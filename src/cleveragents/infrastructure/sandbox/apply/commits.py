"""The commits that an apply makes: the plan's work, and its merge with the project."""

from __future__ import annotations

from functools import cached_property

from cleveragents.domain.plans.apply import TargetWork
from cleveragents.infrastructure.sandbox.apply.merge_workspace import MergeWorkspace
from cleveragents.infrastructure.sandbox.git.command import Git


class PlanCommits:
    """Makes commits in the private mirror, in the user's name."""

    def __init__(self, room: MergeWorkspace, project: Git, work: TargetWork) -> None:
        self._room = room
        self._project = project
        self._work = work

    @cached_property
    def identity(self) -> dict[str, str]:
        """Git's variables for who commits: the user, or we if nobody has said who that is."""
        found = self._project.user_settings()
        name, email = found.get("user.name", "").strip(), found.get("user.email", "").strip()
        if not name or not email:
            return {}
        return {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", name), ("EMAIL", email))
        }

    def of_plan(self, tree: str) -> str:
        """Makes the commit that is the plan's work alone, on the commit it started from."""
        base = self._work.sandbox.base_commit
        message = self._message(f"Plan {self._work.plan_name}")
        return self._room.commit(tree, [] if base is None else [base], message, self.identity)

    def merged(self, tree: str, plans_tree: str, head: str | None) -> str:
        """Makes the commit that the project gets.

        Where the commit that the plan started from has gone from the project's history,
        there is nothing to merge with: a merge would bring it back.
        """
        base = self._work.sandbox.base_commit
        parents = [] if head is None else [head]
        if base and head and self._room.git.succeeds("merge-base", "--is-ancestor", base, head):
            parents.append(self.of_plan(plans_tree))
        message = self._message(f"Apply plan {self._work.plan_name}")
        return self._room.commit(tree, parents, message, self.identity)

    def _message(self, subject: str) -> str:
        body = [self._work.description.strip(), f"Plan: {self._work.plan_id}"]
        return "\n\n".join([subject, *(part for part in body if part)]) + "\n"
