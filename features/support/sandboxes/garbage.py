"""What killed runs and agents leave in a plan's store, by the words that the features use."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

from features.support.plans import Plans
from features.support.sandboxes.sandbox_bench import IDENTITY
from features.support.trees import Tree, tree

from cleveragents.infrastructure.sandbox.gc import stale_locks
from cleveragents.testing.events import NoEvents
from cleveragents.testing.workspace import single_acts

UNKNOWN = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
"""A plan that no database knows."""
Leftover = Callable[[Plans], Path]


def git(plans: Plans, *arguments: str, stdin: bytes = b"") -> str:
    """What git says about the store."""
    done = subprocess.run(
        ["git", f"--git-dir={plans.mirror}", *arguments],
        env=plans.world.environment | IDENTITY,
        input=stdin,
        capture_output=True,
        check=True,
    )
    return os.fsdecode(done.stdout)


def agent(plans: Plans, command: str) -> str:
    """What a command of the agent's says, in its sandbox."""
    done = subprocess.run(
        ["/bin/sh", "-ec", command],
        cwd=plans.sandbox,
        env=plans.world.environment | IDENTITY,
        capture_output=True,
        check=True,
    )
    return os.fsdecode(done.stdout)


def store_tree(plans: Plans) -> Tree:
    return tree(plans.mirror)


def stored(plans: Plans) -> set[str]:
    listing = git(plans, "cat-file", "--batch-all-objects", "--batch-check")
    return {line.split()[0] for line in listing.splitlines()}


def needed(plans: Plans) -> set[str]:
    listing = git(plans, "rev-list", "--objects", "--all", "--indexed-objects")
    return {line.split()[0] for line in listing.splitlines()}


def add_object(plans: Plans) -> Path:
    """An object that nothing leads to, as git writes it."""
    name = git(plans, "hash-object", "-w", "--stdin", stdin=b"nobody needs this\n").strip()
    return plans.mirror / "objects" / name[:2] / name[2:]


def write(path: Path, content: bytes = b"left over\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def old(path: Path) -> Path:
    then = time.time() - 7200
    os.utime(path, (then, then))
    return path


def combine_checkpoints(plans: Plans) -> None:
    """Makes a state that was never there: the last checkpoint, but a.txt as in the first."""
    with closing(plans.container(NoEvents())) as container:
        with container.database().read() as transaction:
            (sandbox,) = transaction.sandboxes.list(plans.plan_id)
            groups = transaction.checkpoints.groups(plans.plan_id)
        first, last = (group.snapshots[sandbox.resource_id] for group in (groups[0], groups[-1]))
        single_acts(container.checkpoint_manager(), sandbox).combine(last, first, ["a.txt"])


def age_objects(plans: Plans) -> None:
    """Has everything that git wrote into the store been written long ago."""
    objects = (plans.mirror / "objects").glob("??/*")
    assert [old(path) for path in objects if path.stat().st_nlink == 1]


def _unnamed_pack(plans: Plans) -> Path:
    """A pack with our mark, of something that no ref leads to."""
    name = git(plans, "hash-object", "-w", "--stdin", stdin=b"never named\n").strip()
    place = plans.mirror / "objects" / "pack" / "pack"
    pack = git(plans, "pack-objects", "-q", str(place), stdin=f"{name}\n".encode()).strip()
    (plans.mirror / "objects" / name[:2] / name[2:]).unlink()
    keep = place.with_name(f"pack-{pack}.keep")
    return write(keep, b"cleveragents: until its ref is written\n")


def _half_a_repository(plans: Plans) -> Path:
    draft = plans.mirror.with_name(f"{plans.mirror.name}.new")
    write(draft / "objects" / "info" / "something")
    return draft


def _to_become_a_pack(plans: Plans) -> Path:
    room = plans.mirror.with_suffix(".packing")
    write(room / "deadbeef" / "pack" / "tmp_pack_x")
    return room / "deadbeef"


def _kept_by_git(plans: Plans) -> Path:
    name = _unnamed_pack(plans)
    name.write_bytes(b"mine\n")
    return name.with_suffix(".pack")


def _locked_by_the_living(plans: Plans) -> Path:
    """Has a git wait in the sandbox that began before the lock."""
    waiting = subprocess.Popen(
        ["git", "cat-file", "--batch"], cwd=plans.sandbox, stdin=subprocess.PIPE
    )

    def end() -> None:
        waiting.communicate()

    plans.world.on_close.callback(end)
    return _in("packed-refs.lock")(plans)


def _locked_by_somebody(plans: Plans) -> Path:
    """The system does not list its processes."""
    plans.world.on_close.enter_context(
        patch.object(stale_locks, "_PROCESSES", plans.world.directory / "nowhere")
    )
    return _in("packed-refs.lock")(plans)


def _link(plans: Plans) -> Path:
    """A link where git's temporary directories are; what it leads to is somebody else's."""
    theirs = old(write(plans.world.directory / "theirs" / "tmp_obj_theirs"))
    (plans.mirror / "objects" / "zz").symlink_to(theirs.parent)
    return theirs


def _in(name: str) -> Leftover:
    return lambda plans: write(plans.mirror / name)


def _old(name: str) -> Leftover:
    return lambda plans: old(write(plans.mirror / name))


KILLED: dict[str, Leftover] = {
    "half of a pack that the program wrote": _in("objects/pack/tmp_pack_cleveragents_1_00112233"),
    "a pack that the program wrote and no ref names": _unnamed_pack,
    "a draft of a configuration": lambda plans: write(
        plans.mirror.with_suffix(".private") / ".config.00112233"
    ),
    "a draft of a ref": _in("refs/cleveragents/snapshots/.x.00112233"),
    "a draft beside the packs": _in("objects/pack/.pack-x.idx.00112233"),
    "a copy of an index": lambda plans: write(
        plans.mirror / "worktrees" / f"{plans.plan_id}-project" / "index.cleveragents-00112233"
    ),
    "an old draft beside a sandbox": lambda plans: old(
        write(plans.sandbox.with_name("..project.state.json.00112233"))
    ),
    "half a repository": _half_a_repository,
    "what was to become a pack": _to_become_a_pack,
    "an old temporary pack of git": _old("objects/pack/tmp_pack_AbCdEf"),
    "an old temporary object of git": _old("objects/ab/tmp_obj_AbCdEf"),
    "an old lock of git on all refs": _old("packed-refs.lock"),
    "an old lock of git on one ref": _old("refs/heads/mine.lock"),
    "a lock of a killed git on all refs": _in("packed-refs.lock"),
    "a lock of a killed git on an index": lambda plans: _in(
        f"worktrees/{plans.plan_id}-project/index.lock"
    )(plans),
    "an old pack without an index": _old("objects/pack/pack-0011.pack"),
}
FRESH: dict[str, Leftover] = {
    "a fresh temporary pack": _in("objects/pack/tmp_pack_AbCdEf"),
    "a fresh temporary object": _in("objects/ab/tmp_obj_AbCdEf"),
    "a fresh lock on all refs, and is alive": _locked_by_the_living,
    "a fresh lock on all refs, whose process is unknown": _locked_by_somebody,
    "a fresh object nothing leads to": add_object,
    "a pack it wants to keep": _kept_by_git,
    "a link among the temporary files": _link,
}


def make_unknown_sandbox(plans: Plans) -> Path:
    """A sandbox with a snapshot, for a plan that is in no database."""
    head = git(plans, "for-each-ref", "--format=%(objectname)", "refs/cleveragents").split()[0]
    git(plans, "update-ref", f"refs/cleveragents/snapshots/{UNKNOWN}/project/{head}", head)
    git(plans, "update-ref", f"refs/cleveragents/base/{UNKNOWN}/project", head)
    git(plans, "update-ref", f"refs/heads/cleveragents/plan-{UNKNOWN}", head)
    place = plans.world.home / "sandboxes" / UNKNOWN / "project"
    write(place / "work.txt")
    write(place.with_name(".project.cache.json"))
    return place


def make_unknown_worktree(plans: Plans) -> Path:
    """The same, made by git."""
    place = make_unknown_sandbox(plans)
    write(plans.mirror / "worktrees" / f"{UNKNOWN}-project" / "HEAD", b"ref: refs/heads/main\n")
    return place


def make_draft(plans: Plans) -> Path:
    """Half a sandbox, as a copy of a directory leaves it."""
    draft = plans.sandbox.with_name(".data.draft")
    write(draft / "file", os.urandom(40 * 1024))
    return draft


def lose_refs(plans: Plans) -> None:
    """An agent may write to the mirror: the bytes are still there, and nothing keeps them."""
    place = "refs/cleveragents/snapshots"
    names = git(plans, "for-each-ref", "--format=%(refname)", place).split()
    assert names
    for name in names:
        git(plans, "update-ref", "-d", name)


def lose_stores(plans: Plans) -> None:
    shutil.rmtree(plans.world.home / "mirrors")


def directory_as_lock(plans: Plans) -> None:
    lock = plans.mirror.with_suffix(".use")
    lock.unlink()
    lock.mkdir()


def finish_draft(plans: Plans) -> Path:
    """A draft that is listed and has its final name by the time it is opened."""
    draft = plans.sandbox.with_name(".data.draft")
    draft.symlink_to("nowhere")
    return plans.sandbox


def lose_bytes(plans: Plans, name: str) -> None:
    """Removes the stored bytes of a file of the sandbox, and nothing else."""
    packs = plans.mirror / "objects" / "pack"
    aside = plans.mirror / "aside"
    packs.rename(aside)
    packs.mkdir()
    for pack in aside.glob("*.pack"):
        git(plans, "unpack-objects", "-q", stdin=pack.read_bytes())
    gone = agent(plans, f"git hash-object {name}").strip()
    (plans.mirror / "objects" / gone[:2] / gone[2:]).unlink()
