"""What known tools do to take a snapshot and to go back, as the commands they run.

Each is the tool's own sequence without the tool's own overhead (its Node or Rust
process, its walks for nested repositories), so it is a lower bound for the tool.
`git gc --auto`, which can stop a tool for seconds, is off. None of them makes its
snapshot durable: git syncs neither loose objects nor the index by default.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from benchmarks.compare.monitor import Monitor
from benchmarks.compare.technique import NotAvailable, Technique
from cleveragents.infrastructure.sandbox.files.inotify import WatchUnavailableError

_CONFIGURATION = """\
[user]
	name = b
	email = b@b
[gc]
	auto = 0
[maintenance]
	auto = false
[init]
	defaultBranch = main
"""


class GitTechnique(Technique):
    """Runs git with no configuration but what is above."""

    def __init__(self, origin: Path, store: Path) -> None:
        self.root = origin
        self.store = store
        store.mkdir(parents=True)
        settings = store / "gitconfig"
        settings.write_text(_CONFIGURATION, encoding="utf-8")
        self.variables: dict[str, str] = {
            "PATH": os.environ["PATH"],
            "HOME": str(store),
            "GIT_CONFIG_GLOBAL": str(settings),
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def first(self) -> object:
        return self.snapshot()

    def git(
        self, *arguments: str, stdin: bytes = b"", variables: Mapping[str, str] | None = None
    ) -> str:
        """Runs git in the directory and returns what it prints."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env={**self.variables, **(variables or {})},
            input=stdin,
            capture_output=True,
            check=True,
        )
        return os.fsdecode(done.stdout)

    def word(self, *arguments: str, variables: Mapping[str, str] | None = None) -> str:
        """Runs git and returns the one word that it prints."""
        return self.git(*arguments, variables=variables).strip()


class ShadowRepository(GitTechnique):
    """A second repository whose work tree is the project's."""

    def first(self) -> object:
        self.make()
        return self.snapshot()

    def make(self) -> None:
        shadow = self.store / "shadow"
        self.variables |= {"GIT_DIR": str(shadow), "GIT_WORK_TREE": str(self.root)}
        self.git("init", "--quiet")


class Cline(ShadowRepository):
    """Stages and commits everything; goes back with a hard reset."""

    name = "Cline"

    def snapshot(self) -> object:
        self.git("add", ".", "--ignore-errors")
        return _committed(
            self.git("commit", "--allow-empty", "--no-verify", "--message=checkpoint")
        )

    def restore(self, snapshot: object) -> None:
        self.git("reset", "--hard", str(snapshot))


class GeminiCli(ShadowRepository):
    """Commits when `git status` finds something; goes back with restore and clean.

    The tool takes its snapshot before a change only. Had it taken one since, the
    clean would delete again what the restore brings back of deleted files.
    """

    name = "Gemini CLI"
    snapshots_after_change = False

    def make(self) -> None:
        super().make()
        self.git("commit", "--allow-empty", "--message=Initial commit")

    def snapshot(self) -> object:
        self.git("add", ".")
        listing = self.git("status", "--porcelain", "-b", "-u", "--null")
        if not any(listing.split("\0")[1:]):
            return self.word("rev-parse", "HEAD")
        return _committed(self.git("commit", "--no-verify", "--message=snapshot"))

    def restore(self, snapshot: object) -> None:
        self.git("restore", "--source", str(snapshot), ".")
        self.git("clean", "-f", "-d")


class OpenCodeEarlier(ShadowRepository):
    """Keeps trees without commits; goes back by writing every file again.

    The tool deletes files made since only from the list it keeps of a step's
    changes, so both together are its way back. It leaves an index that knows no
    file's time, so the next snapshot reads every file.
    """

    name = "OpenCode, earlier"
    restores_at_most = 20_000

    def snapshot(self) -> object:
        self.git("add", ".")
        return self.word("write-tree")

    def restore(self, snapshot: object) -> None:
        made = self.git("diff", "--cached", "--name-only", "--diff-filter=A", "-z", str(snapshot))
        self.git("read-tree", str(snapshot))
        self.git("checkout-index", "-a", "-f")
        for path in filter(None, made.split("\0")):
            (self.root / path).unlink(missing_ok=True)


class OpenCode(OpenCodeEarlier):
    """Asks git which files changed, and stages those by name.

    Its way back leaves an index that knows no file's time, so the next snapshot
    names every file to `git add`, whose cost is the square of that.
    """

    name = "OpenCode"
    settings = ("feature.manyFiles", "index.threads", "core.untrackedCache")

    def make(self) -> None:
        self._project = dict(self.variables)
        super().make()
        for setting in self.settings:
            self.git("config", setting, "true")
        objects = self._ask_project("rev-parse", "--path-format=absolute", "--git-path", "objects")
        shadow = self.store / "shadow"
        (shadow / "objects/info/alternates").write_text(f"{objects}\n", encoding="utf-8")
        shutil.copyfile(Path(objects).parent / "index", shadow / "index")

    def snapshot(self) -> object:
        self._ask_project("rev-parse", "--path-format=absolute", "--git-path", "info/exclude")
        if changed := self._changed():
            self._stage(changed)
        return self.word("write-tree")

    def _changed(self) -> list[str]:
        """Returns what two commands, run at once, say is changed and is new."""
        questions = (
            ("diff-files", "--name-only", "-z", "--", "."),
            ("ls-files", "--full-name", "--others", "--exclude-standard", "-z", "--", "."),
        )
        asked = [
            subprocess.Popen(
                ["git", *question], cwd=self.root, env=self.variables, stdout=subprocess.PIPE
            )
            for question in questions
        ]
        answers = [os.fsdecode(process.communicate()[0]) for process in asked]
        return [path for answer in answers for path in answer.split("\0") if path]

    def _stage(self, paths: list[str]) -> None:
        listing = os.fsencode("".join(f"{path}\0" for path in paths))
        subprocess.run(
            ["git", "check-ignore", "--no-index", "--stdin", "-z"],
            cwd=self.root,
            env=self._project,
            input=listing,
            capture_output=True,
            check=False,  # Status 1: none of them is ignored.
        )
        literal = os.fsencode("".join(f":(top,literal){path}\0" for path in paths))
        options = ("--all", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul")
        self.git("add", *options, stdin=literal)

    def _ask_project(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, env=self._project, capture_output=True, check=True
        )
        return os.fsdecode(done.stdout).strip()


class CodexGhostCommit(GitTechnique):
    """A commit that no branch names, made in the project's repository with an index made anew."""

    name = "Codex ghost commit"

    def snapshot(self) -> object:
        self._look_around()
        head = self.word("rev-parse", "--verify", "HEAD")
        untracked = self._untracked()
        index = {"GIT_INDEX_FILE": str(self.store / "index")}
        self.git("read-tree", head, variables=index)
        self.git("add", "--all", variables=index)
        tree = self.word("write-tree", variables=index)
        commit = self.word("commit-tree", tree, "-p", head, "-m", "ghost", variables=index)
        (self.store / "index").unlink()
        return commit, untracked

    def restore(self, snapshot: object) -> None:
        assert isinstance(snapshot, tuple)
        commit, untracked = snapshot
        self._look_around()
        present = self._untracked()
        self.git("restore", "--source", str(commit), "--worktree", "--staged", "--", ".")
        for path in present - untracked:
            (self.root / path).unlink(missing_ok=True)

    def _look_around(self) -> None:
        self.git("rev-parse", "--is-inside-work-tree")
        self.git("rev-parse", "--show-toplevel")

    def _untracked(self) -> set[str]:
        listing = self.git("status", "--porcelain=2", "-z", "--untracked-files=all")
        return {entry[2:] for entry in listing.split("\0") if entry.startswith("? ")}


class KeptIndex(GitTechnique):
    """The project's repository and an index of one's own that stays: the best of plain git."""

    name = "git add + write-tree, kept index"
    settings: tuple[str, ...] = ("feature.manyFiles=true", "core.untrackedCache=true")

    def first(self) -> object:
        git_directory = self.word("rev-parse", "--path-format=absolute", "--git-dir")
        shutil.copyfile(f"{git_directory}/index", self.store / "index")
        self.variables["GIT_INDEX_FILE"] = str(self.store / "index")
        self.tuned("update-index", "--index-version=4", "--untracked-cache")
        return self.snapshot()

    def snapshot(self) -> object:
        self.stage()
        return self.tuned("write-tree").strip()

    def restore(self, snapshot: object) -> None:
        self.stage()
        self.tuned("read-tree", "--reset", "-u", str(snapshot))

    def stage(self) -> None:
        self.tuned("add", "--all")

    def tuned(self, *arguments: str, stdin: bytes = b"") -> str:
        chosen = [word for setting in self.settings for word in ("-c", setting)]
        return self.git(*chosen, *arguments, stdin=stdin)


class MonitoredIndex(KeptIndex):
    """The same with changes reported to git: by its own monitor, or else through its hook."""

    name = "the same with fsmonitor"
    watches = True
    _monitor: Monitor | None = None
    _has_started = False

    def first(self) -> object:
        facts = self.git("version", "--build-options")
        self._has_started = True
        if "fsmonitor--daemon" in facts:
            self.git("fsmonitor--daemon", "start")
            chosen = "true"
        else:
            self._monitor = _started(self.root, self.store)
            chosen = str(self._monitor.hook)
        self.settings = (
            *KeptIndex.settings,
            f"core.fsmonitor={chosen}",
            "core.fsmonitorHookVersion=2",
            "index.skipHash=true",
            "status.showUntrackedFiles=all",
        )
        return super().first()

    def stage(self) -> None:
        """Asks `git status`, which unlike `git add` believes a monitor about new files too."""
        listing = self.tuned("status", "--porcelain=v1", "-z", "--no-renames")
        changed = [entry[3:] for entry in listing.split("\0") if entry[1:2].strip()]
        if changed:
            paths = os.fsencode("".join(f"{path}\0" for path in changed))
            self.tuned("update-index", "--add", "--remove", "-z", "--stdin", stdin=paths)

    def close(self) -> None:
        if self._monitor is not None:
            self._monitor.close()
        elif self._has_started:
            self.git("fsmonitor--daemon", "stop")


def _started(root: Path, store: Path) -> Monitor:
    try:
        return Monitor(root, store)
    except WatchUnavailableError as error:
        raise NotAvailable(f"nothing can be watched here: {error}") from error


def _committed(said: str) -> str:
    """Returns the commit that `git commit` names in the brackets its answer begins with."""
    return said.partition("]")[0].split()[-1]
