"""Mirrors, disk use, and facts about the installation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from cleveragents.domain.health.health import DatabaseFacts, HomeFacts, StoredBytes
from cleveragents.domain.health.home_state import HomeState
from cleveragents.domain.health.maintenance import CollectedStore, KnownRecords, StoreFindings
from cleveragents.domain.plans.origin import FoundPlan

RecordLookup = Callable[[Collection[str]], KnownRecords]


class Installation(Protocol):
    """The installation that the program runs on. MUST change nothing and create no directory."""

    def versions(self) -> Mapping[str, str]:
        """Returns the versions of the program and of what it always has, by name."""
        ...

    def git_version(self) -> str:
        """Raises ConfigurationError when git is missing or too old."""
        ...

    def paths(self) -> Mapping[str, str]:
        """Returns where things are, by name."""
        ...

    def home(self) -> HomeFacts | None:
        """Looks at the home directory; None when there is none yet."""
        ...

    def make_home_private(self) -> None:
        """Lets nobody but the user into the home directory. MUST be repeatable."""
        ...

    def home_state(self) -> HomeState:
        """Compares the place of the home directory with its identity."""
        ...

    def original_home(self) -> str | None:
        """Returns where the home directory was when it got its identity, if it has one."""
        ...

    def separate_home(self) -> None:
        """Lets a copied home get an identity of its own when the database is used next."""
        ...

    def has(self, path: str) -> bool:
        """Returns whether there is anything at a path."""
        ...


class DatabaseInspection(Protocol):
    """Looks at the database without making, upgrading or changing it."""

    def place(self) -> str:
        """Returns where it is, without secrets."""
        ...

    def is_shared(self) -> bool:
        """Returns whether other homes, on other machines, may store their plans there too."""
        ...

    def look(self) -> DatabaseFacts | None:
        """Returns what is there; None when there is none yet.

        Raises what the first use of the `Database` would raise.
        """
        ...


class Mirrors(Protocol):
    """The stores of all projects under one home directory, and keeping them small."""

    def keys(self) -> Sequence[str]:
        """Returns the keys of the projects that have a store."""
        ...

    def key_of(self, mirror: str) -> str:
        """Returns the key of the project that the mirror at a path belongs to."""
        ...

    def plan_of(self, sandbox: str) -> str:
        """Returns the id of the plan that the sandbox at a path belongs to."""
        ...

    def disk_use(self) -> StoredBytes:
        """Measures everything under the home directory."""
        ...

    def sandboxes(self) -> Mapping[str, Sequence[str]]:
        """Returns the resources of each plan that has a directory of sandboxes, by plan.

        Directories that are being made are not among them.
        """
        ...

    def remove_sandbox(self, plan_id: str, resource: str) -> None:
        """Removes a sandbox that no record names, with what belongs to it. MUST be repeatable."""
        ...

    def on_disk(
        self,
        projects: Sequence[str],
        *,
        among: Collection[str] | None = None,
        without: Collection[str] = (),
    ) -> Sequence[FoundPlan]:
        """Returns what is on disk of plans, by their ids; changes nothing.

        Args:
            projects: Paths that a sandbox may have been made of, where no note tells it.
            among: Only these plans; None is every plan of which anything is there.
            without: Not these plans.
        """
        ...

    def repair(self, mirror: str, project: str) -> Sequence[str]:
        """Replaces damaged objects of a mirror by those of its project; returns their files.

        A project that is gone or is not a repository has none. MUST NOT change the project.
        """
        ...

    def look(self, key: str, naming: RecordLookup) -> StoreFindings:
        """Finds what `collect` would take out, objects aside; changes nothing.

        MUST ask `naming` only when no other process can use the store.
        """
        ...

    def reclaim_drafts(self, *, dry_run: bool) -> int:
        """Removes sandboxes that a killed process had not finished making; returns their bytes.

        MUST leave alone what a living process is making, and with `dry_run` everything.
        """
        ...

    def collect(self, key: str, naming: RecordLookup, *, dry_run: bool) -> CollectedStore:
        """Takes out what no record names and nothing leads to.

        MUST ask `naming` only when no other process can use the store, MUST leave
        a store in use as it is, and MUST NOT touch what it shares with the
        project. MUST leave a whole store wherever it is killed. With `dry_run` it
        MUST change nothing.
        """
        ...
