"""What can happen to a store, to a sandbox and around them, by the words that the features use."""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from features.support.faults import damaged_git
from features.support.sandboxes.sandbox_bench import SandboxBench
from msgspec.structs import replace

from cleveragents.infrastructure.sandbox.files import git_state, writer
from cleveragents.infrastructure.sandbox.files.tracker import STATE, note_path
from cleveragents.infrastructure.sandbox.git.command import Git, GitProcess, admin_directory
from cleveragents.infrastructure.sandbox.git.objects import (
    NewObject,
    ObjectChangedError,
    ObjectKind,
)
from cleveragents.infrastructure.sandbox.store import snapshots

Fault = Callable[[SandboxBench], None]


def unpack(work: SandboxBench) -> None:
    """Makes every object of the mirror a file of its own, which can be damaged alone."""
    packs = work.mirror / "objects/pack"
    aside = work.mirror / "aside"
    packs.rename(aside)
    packs.mkdir()
    for pack in aside.glob("*.pack"):
        command = ["git", f"--git-dir={work.mirror}", "unpack-objects", "-q"]
        subprocess.run(command, stdin=pack.open("rb"), check=True, env=work.world.environment)
    shutil.rmtree(aside)


def loose(work: SandboxBench, revision: str) -> Path:
    """The file of an object."""
    unpack(work)
    command = ["git", f"--git-dir={work.mirror}", "rev-parse", revision]
    asked = subprocess.run(command, capture_output=True, check=True, env=work.world.environment)
    name = asked.stdout.decode().strip()
    return work.mirror / "objects" / name[:2] / name[2:]


def loose_objects_of(mirror: Path) -> list[Path]:
    """The files of objects that are not in a pack."""
    return sorted(mirror.glob("objects/[0-9a-f][0-9a-f]/*"))


def write_object(work: SandboxBench, kind: str, content: bytes, name: str | None = None) -> str:
    """Stores bytes as an object, under a name that need not be theirs."""
    name = name or NewObject.of(ObjectKind[kind.upper()], content).id
    path = work.mirror / "objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(zlib.compress(b"%s %d\0%s" % (kind.encode(), len(content), content)))
    return name


def read_object(work: SandboxBench, name: str) -> bytes:
    command = ["git", f"--git-dir={work.mirror}", "cat-file", "-p", name]
    return subprocess.run(command, capture_output=True, check=True).stdout


def forge(work: SandboxBench, change: Callable[[bytes], bytes]) -> None:
    """Puts a commit in the snapshot's place that names another document."""
    unpack(work)
    snapshot = work.moments["before"].id
    commit = read_object(work, snapshot)
    line = next(line for line in commit.splitlines() if line.startswith(b"Document: "))
    document = change(read_object(work, line[10:].decode()))
    name = write_object(work, "blob", document)
    forged = commit.replace(line, b"Document: " + name.encode())
    moment = work.moments["before"]
    made = replace(moment.checkpoint, snapshot_id=write_object(work, "commit", forged))
    work.moments["before"] = type(moment)(made, moment.tree, moment.git)


def _remove(work: SandboxBench, revision: str) -> None:
    loose(work, revision.format(work.moments["before"].id)).unlink()


def other_bytes(work: SandboxBench) -> None:
    path = loose(work, f"{work.moments['before'].id}:a")
    write_object(work, "blob", b"9\n", path.parent.name + path.name)


def cut_bytes(work: SandboxBench) -> None:
    path = loose(work, f"{work.moments['before'].id}:a")
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:5])


def other_commit(work: SandboxBench) -> None:
    forge(work, lambda document: document)
    moment = work.moments["before"]
    head = work.agent("git rev-parse HEAD").strip()
    made = replace(moment.checkpoint, snapshot_id=head)
    work.moments["before"] = type(moment)(made, moment.tree, moment.git)


def other_document(work: SandboxBench) -> None:
    forge(work, lambda document: document.replace(b'"top_mode":493', b'"top_mode":448'))


def no_document(work: SandboxBench) -> None:
    forge(work, lambda _: b"[1, 2]")


def staged_gone(work: SandboxBench) -> None:
    loose(work, _staged_only(work)).unlink()


def _staged_only(work: SandboxBench) -> str:
    """The file on disk is another, so only the index needs the object."""
    work.agent("echo 5 > only-staged; git add only-staged; rm only-staged")
    work.moments["before"] = work.look()
    work.agent("git reset -q")
    work.moments["after"] = work.look()
    return NewObject.of(ObjectKind.BLOB, b"5\n").id


def _emptied(path: Path) -> None:
    path.chmod(0o644)
    path.write_bytes(b"")


def committed(damage: Callable[[SandboxBench, str], None]) -> Fault:
    """Has the agent make two commits before the checkpoint, and damages an object of theirs."""

    def act(work: SandboxBench) -> None:
        work.agent(
            "for n in 1 2; do echo committed $n > c; git add c; git commit -qm $n; done; rm c"
        )
        work.moments["before"] = work.look()
        work.agent("git reset -q --hard HEAD~2")
        work.moments["after"] = work.look()
        damage(work, work.agent("git rev-parse HEAD@{1}").strip())

    return act


def _with_other_bytes(work: SandboxBench, revision: str) -> None:
    path = loose(work, revision)
    kind = work.agent(f"git cat-file -t {revision}").strip()
    content = read_object(work, path.parent.name + path.name) if kind == "commit" else b"?"
    write_object(work, kind, content + b"?", path.parent.name + path.name)


def repository_gone(work: SandboxBench) -> None:
    work.mirror.rename(work.mirror.with_name("gone"))


DAMAGE: dict[str, Fault] = {
    "the bytes of a file are gone": lambda work: _remove(work, "{}:a"),
    "the bytes of a file are others": other_bytes,
    "the bytes of a file are cut off": cut_bytes,
    "the tree is gone": lambda work: _remove(work, "{}^{{tree}}"),
    "the document is gone": lambda work: _remove(work, _document_of(work)),
    "the snapshot is another commit": other_commit,
    "the document is another's": other_document,
    "the document is not one": no_document,
    "a staged file is gone": staged_gone,
    "the repository is gone": repository_gone,
    "the commit of HEAD is gone": committed(lambda work, head: loose(work, head).unlink()),
    "the commit of HEAD has other bytes": committed(_with_other_bytes),
    "the commit of HEAD is empty": committed(lambda work, head: _emptied(loose(work, head))),
    "a commit before HEAD is gone": committed(lambda work, head: loose(work, f"{head}~1").unlink()),
    "a file of HEAD has other bytes": committed(
        lambda work, head: _with_other_bytes(work, f"{head}:c")
    ),
    "a file of HEAD is gone": committed(lambda work, head: loose(work, f"{head}:c").unlink()),
    "an earlier file is gone": committed(lambda work, head: loose(work, f"{head}~1:c").unlink()),
    "a staged file has other bytes": lambda work: _with_other_bytes(work, _staged_only(work)),
}


def _document_of(work: SandboxBench) -> str:
    commit = read_object(work, work.moments["before"].id).decode()
    return next(
        line.removeprefix("Document: ")
        for line in commit.splitlines()
        if line.startswith("Document: ")
    )


def empty_cache(work: SandboxBench) -> None:
    note_path(work.sandbox, STATE).write_bytes(b"")


def cut_cache(work: SandboxBench) -> None:
    path = note_path(work.sandbox, STATE)
    path.write_bytes(path.read_bytes()[:-10])


def wrong_cache(work: SandboxBench) -> None:
    path = note_path(work.sandbox, STATE)
    checksum, body = path.read_bytes().split(b"\n", 1)
    content = json.loads(body)
    content["captured"] = [1, 2]
    path.write_bytes(checksum + b"\n" + json.dumps(content).encode())


def directory_cache(work: SandboxBench) -> None:
    note_path(work.sandbox, STATE).unlink()
    note_path(work.sandbox, STATE).mkdir()


def pruned_snapshot(work: SandboxBench) -> None:
    """The newest snapshot goes, with its objects; what was read for it is not stored any more."""
    work.agent("echo 4 > only-there")
    newest = work.look()
    work.acts().delete([newest.id])
    work.agent("git reflog expire --expire=now --all; git gc -q --prune=now")
    work.moments["after"] = work.look()
    work.acts().verify(work.moments["after"].id)


MEMORY: dict[str, Fault] = {
    "it is gone": lambda work: note_path(work.sandbox, STATE).unlink(),
    "it is empty": empty_cache,
    "it is cut off": cut_cache,
    "it is not what was written": wrong_cache,
    "it is a directory": directory_cache,
    "its snapshot was pruned": pruned_snapshot,
}


def another_in_its_place(work: SandboxBench) -> None:
    _aside(work)
    shutil.copytree(work.sandbox_of("OTHER").path, work.root)
    (admin_directory(work.sandbox) / "gitdir").write_text("/elsewhere/.git\n")


def _aside(work: SandboxBench) -> None:
    (work.outside / "file").write_text("theirs\n")
    work.root.rename(work.world.directory / "aside")


def link_in_its_place(work: SandboxBench) -> None:
    _aside(work)
    work.root.symlink_to(work.outside)


def file_in_its_place(work: SandboxBench) -> None:
    _aside(work)
    work.root.write_text("")


SANDBOX: dict[str, Fault] = {
    "it is gone": _aside,
    "it is a link to elsewhere": link_in_its_place,
    "it is a file": file_in_its_place,
    "another sandbox is in its place": another_in_its_place,
}


@contextlib.contextmanager
def _in_a_deleted_directory(work: SandboxBench) -> Iterator[None]:
    place = work.world.directory / "deleted"
    place.mkdir()
    here = Path.cwd()
    os.chdir(place)
    place.rmdir()
    try:
        yield
    finally:
        os.chdir(here)


def other_plan(work: SandboxBench) -> None:
    """Another plan commits, stashes and prunes; its branches are not this plan's."""
    work.agent("echo 1 > new; git add -A; git commit -qm 1; git checkout -q -b feature", "OTHER")
    work.look("OTHER")
    work.agent("git reflog expire --expire=now --all; git gc -q --prune=now", "OTHER")
    work.roll_back(work.look("OTHER"), "OTHER")
    work.report = None


def killed_removal(work: SandboxBench) -> None:
    """Half a removal of another plan's sandbox; the next removal ends it."""
    sandbox = work.sandbox_of("OTHER")
    heap = Path(sandbox.path).with_name(".project.removed")
    heap.mkdir()
    Path(sandbox.path).rename(heap / "0")
    work.maker.remove(sandbox)
    assert not heap.exists()


def _started(words: list[str]) -> GitProcess:
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin and process.stdout
    return GitProcess(process, process.stdin, process.stdout)


@contextlib.contextmanager
def dying_git(answer: bytes | None) -> Iterator[None]:
    """A git that is gone when it is asked, or after a part of its answer."""

    def start(*_: object) -> GitProcess:
        words = ["true"] if answer is None else ["printf", "%s", answer.decode()]
        started = _started(words)
        started.process.wait()
        return started

    with patch.object(Git, "start", start):
        yield


@contextlib.contextmanager
def silent_git() -> Iterator[None]:
    """A git that takes every question about ignore rules and answers none."""
    real = Git.start

    def start(git: Git, *arguments: str) -> GitProcess:
        if "check-ignore" not in arguments:
            return real(git, *arguments)
        words = ["sh", "-c", "cat > /dev/null"]
        return _started(words)

    with patch.object(Git, "start", start):
        yield


@contextlib.contextmanager
def no_effect() -> Iterator[None]:
    with (
        patch.object(writer.SandboxWriter, "apply", lambda *_: None),
        patch.object(git_state.SandboxGit, "restore", lambda *_: None),
    ):
        yield


@contextlib.contextmanager
def without_links(why: str) -> Iterator[None]:
    """Hard links are not possible, or no longer necessary."""
    real = os.link

    def link(source: Path, target: Path) -> None:
        match why:
            case "the home directory is on another disk":
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
            case "there is no room":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            case _:
                real(source, target)
                raise FileExistsError

    with patch.object(os, "link", link):
        yield


def _grow(path: Path) -> None:
    with path.open("ab") as stream:
        stream.write(b"more")


def _replace(path: Path) -> None:
    path.unlink()
    path.write_text("another\n")


class Once:
    """Lets something happen the first time that a path is met."""

    def __init__(self, path: Path, act: Callable[[Path], object]) -> None:
        self.path = path
        self.act = act
        self.times = 1

    def meet(self, path: str) -> None:
        if self.times > 0 and path == str(self.path):
            self.times -= 1
            self.act(self.path)


@contextlib.contextmanager
def _when_read(
    path: Path, act: Callable[[Path], object], *, always: bool = False
) -> Iterator[None]:
    once, real = Once(path, act), os.read
    once.times = 100 if always else 1

    def read(descriptor: int, size: int) -> bytes:
        once.meet(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        return real(descriptor, size)

    with patch.object(os, "read", read):
        yield


@contextlib.contextmanager
def _when_opened(path: Path, act: Callable[[Path], object]) -> Iterator[None]:
    once, real = Once(path, act), os.open

    def open_(name: str, *arguments: int, **options: int) -> int:
        once.meet(str(name))
        return real(name, *arguments, **options)

    with patch.object(os, "open", open_):
        yield


@contextlib.contextmanager
def _before_storing(act: Callable[[], object]) -> Iterator[None]:
    real = snapshots.stored_pack
    acts = iter([act])

    def stored_pack(*arguments: Any) -> contextlib.AbstractContextManager[int]:
        for once in acts:
            once()
        return real(*arguments)

    with patch.object(snapshots, "stored_pack", stored_pack):
        yield


@contextlib.contextmanager
def _when_listed(path: Path, act: Callable[[Path], object], *, before: bool) -> Iterator[None]:
    once, real = Once(path, act), os.scandir

    @contextlib.contextmanager
    def scandir(name: str) -> Iterator[list[os.DirEntry[str]]]:
        if before:
            once.meet(str(name))
        with real(name) as entries:
            listed = list(entries)
        once.meet(str(name))
        yield listed

    with patch.object(os, "scandir", scandir):
        yield


@contextlib.contextmanager
def _always_spoiled() -> Iterator[None]:
    numbers = itertools.count()

    def stored_pack(*_: object) -> contextlib.AbstractContextManager[int]:
        raise ObjectChangedError(f"file-{next(numbers)}")

    with patch.object(snapshots, "stored_pack", stored_pack):
        yield


def happening(work: SandboxBench, case: str) -> contextlib.AbstractContextManager[None]:
    """What happens to files just when they are looked at."""
    root, large = work.root, work.root / "large"
    match case:
        case "a small file grows once":
            return _when_read(root / "small", _grow)
        case "a small file grows whenever it is read":
            return _when_read(root / "small", _grow, always=True)
        case "a large file grows once":
            return _when_read(large, _grow)
        case "a file changes but not its size":
            return _when_read(root / "README.md", lambda path: path.write_text("READ ME\n"))
        case "a file is replaced once":
            return _when_opened(root / "small", _replace)
        case "a large file changes before it is stored":
            return _before_storing(lambda: _grow(large))
        case "a large file vanishes before it is stored":
            return _before_storing(large.unlink)
        case "listed files and directories vanish":
            return _when_listed(root / "gone", _empty, before=False)
        case "a listed directory vanishes later":
            return _when_listed(root / "gone/d", Path.rmdir, before=True)
        case _:
            return _always_spoiled()


def _empty(path: Path) -> None:
    (path / "d").rmdir()
    (path / "f").unlink()


def _surrounded(
    make: Callable[[SandboxBench], contextlib.AbstractContextManager[object]],
) -> Fault:
    def surround(work: SandboxBench) -> None:
        work.surroundings = lambda: make(work)

    return surround


CIRCUMSTANCES: dict[str, Fault] = {
    "the user is in a directory of the sandbox": _surrounded(
        lambda work: contextlib.chdir(work.root / "src")
    ),
    "the user is in a directory that was deleted": _surrounded(_in_a_deleted_directory),
    "another plan of the project is at work": other_plan,
    "a removal of the sandbox before it was killed": killed_removal,
    "the system cannot flush one file system alone": _surrounded(
        lambda _: patch("ctypes.CDLL", lambda *_, **__: object())
    ),
    "git dies before it is asked": _surrounded(lambda _: dying_git(None)),
    "git is killed when it is asked for HEAD": _surrounded(
        lambda _: damaged_git.killed("symbolic-ref")
    ),
    "git never answers": _surrounded(lambda _: silent_git()),
    "git dies in the middle of an answer": _surrounded(lambda _: dying_git(b"x commit 9\nabc")),
    "nothing can be written, and nobody says so": _surrounded(lambda _: no_effect()),
}

RESTLESS = {
    "appends to a small file": "while True: open('log', 'a').write('x')",
    "rewrites a large file": "while True: open('large', 'wb').write(os.urandom(3_000_000))",
    "makes and removes files": (
        "while True:\n"
        " for n in range(50): open(f'f{n}', 'w').write('x')\n"
        " for n in range(50): os.remove(f'f{n}')"
    ),
    "makes and removes directories": (
        "while True:\n os.makedirs('d/e/f'); open('d/e/f/g', 'w').close(); shutil.rmtree('d')"
    ),
    "swaps a file for a directory": (
        "while True:\n"
        " open('x', 'w').close(); os.remove('x')\n"
        " os.mkdir('x'); open('x/y', 'w').close(); shutil.rmtree('x')"
    ),
}


@contextlib.contextmanager
def restless(work: SandboxBench, what: str) -> Iterator[None]:
    """A process that goes on changing the sandbox."""
    program = f"import os, shutil; print(flush=True)\n{RESTLESS[what]}"
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=work.root, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.kill()
