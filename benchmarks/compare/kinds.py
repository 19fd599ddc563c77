"""Which kinds of change each technique takes back, and brings again when that is undone.

Each kind of change has a small repository of its own: it is prepared, captured, changed as an
agent in a shell might, captured again, taken back, and brought again. After both ways the tree
is compared with what it was.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.compare.copies import Copy
from benchmarks.compare.exactness import Fingerprint, standing_of
from benchmarks.compare.judging import PRIVATE_SESSION, SESSION_IN_PLACE
from benchmarks.compare.ours import Ours
from benchmarks.compare.peers import Cline, CodexGhostCommit, GeminiCli, KeptIndex, OpenCode
from benchmarks.compare.results import KindsRestored, Restored, Standing
from benchmarks.compare.reversals import PrivateSession, Reversal, SessionInPlace, through
from benchmarks.compare.session_tools import Snapback, Stepback
from benchmarks.compare.technique import NotAvailable, Technique

_TECHNIQUES: tuple[type[Technique], ...] = (
    *(Ours, KeptIndex, Cline, GeminiCli, OpenCode, CodexGhostCommit, Stepback, Snapback, Copy),
)
"""One of each engine: those that differ only in how they find changes restore alike."""

_SETTINGS = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_NAME": "b" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "b@b" for who in ("AUTHOR", "COMMITTER")},
}
_TRACKED = """\
mkdir -p src docs/empty && printf 'one\\n' > src/a.txt && printf 'two\\n' > src/b.txt
printf '#!/bin/sh\\n' > run.sh && chmod 755 run.sh && ln -s src/a.txt link
printf 'local.env\\nout/\\n' > .gitignore
"""


@dataclass(frozen=True)
class Kind:
    """One kind of change: what is there before, as a script, and what changes it."""

    name: str
    change: str
    before: str = ""
    """Runs after the commit: what git does not track, or what is not committed."""
    committed: str = ""
    """Runs before the commit."""


KINDS = (
    Kind("an edited file", "printf 'changed\\n' > src/a.txt"),
    Kind("a deleted file", "rm src/a.txt"),
    Kind("a new file in a new directory", "mkdir -p new/deep && printf 'new\\n' > new/deep/f"),
    Kind("a renamed directory", "mv src lib"),
    Kind("a file that became a directory", "rm run.sh && mkdir run.sh && touch run.sh/f"),
    Kind("a file name with a line break", "printf 'x\\n' > \"$(printf 'a\\nb')\" && rm src/b.txt"),
    Kind("the executable bit", "chmod 644 run.sh"),
    Kind("other permission bits", "chmod 640 src/a.txt", before="chmod 600 src/a.txt"),
    Kind("a symbolic link", "rm link && ln -s src/b.txt link"),
    Kind("an empty directory", "rmdir docs/empty", before="mkdir -p docs/empty"),
    Kind(
        "bytes under `text=auto`",
        "printf 'one\\r\\nthree\\n' > crlf.txt",
        before="printf 'one\\r\\ntwo\\n' > crlf.txt",
        committed="printf '* text=auto\\n' > .gitattributes",
    ),
    Kind("an ignored file", "printf 'B=2\\n' > local.env", before="printf 'A=1\\n' > local.env"),
    Kind(
        "files that an edited `.gitignore` hides",
        "printf 'docs/\\n' >> .gitignore && printf 'changed\\n' > docs/page && touch docs/new",
        before="mkdir -p docs && printf 'mine\\n' > docs/page",
    ),
    Kind(
        "uncommitted work, after `git reset --hard` and `git clean`",
        "git reset -q --hard && git clean -fdq",
        before="printf 'mine\\n' >> src/a.txt && printf 'mine\\n' > untracked.txt",
    ),
    Kind("files that the agent committed", "printf 'x\\n' > src/a.txt && git commit -qam x"),
    Kind(
        "a repository inside, with a commit",
        "cd inner && printf 'y\\n' > f && git commit -qam y",
        before="git init -q inner && cd inner && touch f && git add f && git commit -qm x",
    ),
)


def compare_kinds(place: Path, say: Callable[[str], None]) -> list[KindsRestored]:
    """Tries every kind of change with every technique."""
    found: list[KindsRestored] = []
    for label, make in _reversals():
        say(f"kinds of change: {label}")
        results: dict[str, Restored] = {}
        for number, kind in enumerate(KINDS):
            here = place / f"{label}-{number}".replace("/", " ")
            here.mkdir()
            try:
                results[kind.name] = _tried(kind, here, make)
            except NotAvailable:
                break
            finally:
                shutil.rmtree(here, ignore_errors=True)
        if results:
            found.append(KindsRestored(label, results))
    return found


def _reversals() -> list[tuple[str, Callable[[Path, Path], Reversal]]]:
    others = [(kind.name, through(kind)) for kind in _TECHNIQUES]
    return [(PRIVATE_SESSION, PrivateSession), (SESSION_IN_PLACE, SessionInPlace), *others]


def _tried(kind: Kind, place: Path, make: Callable[[Path, Path], Reversal]) -> Restored:
    project = place / "project"
    project.mkdir()
    _run(f"git init -q\n{_TRACKED}\n{kind.committed}\ngit add -A && git commit -qm base", project)
    reversal = make(project, place / "store")
    try:
        root = reversal.root
        _run(kind.before, root)
        before = _files(reversal)
        reversal.capture()
        _run_in(reversal, kind.change)
        after = _files(reversal)
        reversal.take_back()
        back = standing_of(before, _files(reversal))
        again = standing_of(after, _files(reversal)) if reversal.bring_again() else None
        return Restored(back, again)
    except NotAvailable:
        raise
    except Exception as error:  # Whatever a tool raises here, it did not restore anything.
        return Restored(
            Standing.INEXACT, Standing.INEXACT, f"{type(error).__name__}: {error}".splitlines()[0]
        )
    finally:
        reversal.close()


def _files(reversal: Reversal) -> Fingerprint:
    """Looks at everything but git's own directory; and but what git keeps in those inside."""
    return {
        path: entry
        for path, entry in reversal.look().items()
        # Reading a repository refreshes its index, whoever does it.
        if not path.endswith(".git/index")
    }


def _run_in(reversal: Reversal, script: str) -> None:
    reversal.change(f"set -e\n{script}\n", _environment())


def _run(script: str, directory: Path) -> None:
    subprocess.run(["sh", "-ec", script], cwd=directory, env=_environment(), check=True)


def _environment() -> Mapping[str, str]:
    return {**os.environ, **_SETTINGS}
