"""The project's private mirror: one bare repository that holds everything of its plans.

The project's objects are hard-linked into it (copied where that is impossible),
so it costs next to nothing, and once linked they stay, whatever the user's
repository prunes. Nothing ever flows from here into the project.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from cleveragents.domain.errors import ProjectRefusedError
from cleveragents.domain.sandboxes.resource import ResourceType
from cleveragents.infrastructure.file_locks import exclusive
from cleveragents.infrastructure.files import (
    copy_durably,
    fsync_directory,
    sync_files,
    write_durably,
)
from cleveragents.infrastructure.sandbox.git.command import (
    PRIVATE,
    SHARED,
    Git,
    git_on_mirror,
)
from cleveragents.infrastructure.sandbox.git.repository import Repository, store_key
from cleveragents.infrastructure.sandbox.store.blobs import missing_objects
from cleveragents.infrastructure.sandbox.store.mirror_repair import repair_mirror

_CARRIED_SETTINGS = (
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "user.email",
    "user.name",
)
_OWN_SETTINGS = {
    "core.repositoryformatversion": "0",
    "core.bare": "true",
    "core.logallrefupdates": "true",
    # The agent's git may pack our refs with its own: a power failure must not take them.
    "core.fsync": "reference",
    "gc.auto": "0",
}
_FAN_OUT = re.compile(r"[0-9a-f]{2}")
_INDEX = re.compile(r"[^.].*\.idx", re.DOTALL)
_LOOSE = re.compile(r"[0-9a-f]{38}")
_LINKING_IMPOSSIBLE = (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.EACCES)
_ATTEMPTS = 5


def refresh_mirror(
    repository: Repository, git: Git, mirrors: Path, head: str | None, *, with_refs: bool = True
) -> Path:
    """Makes the project's mirror, or brings it up to date, and returns its place.

    A kill leaves either no mirror or a usable one: it is built under another
    name and renamed, and every later step only adds.

    Args:
        repository: The project.
        git: Any git.
        mirrors: Where the mirrors are.
        head: The commit that must be there whole.
        with_refs: Whether an agent will see the project's branches and tags there.
    """
    key = store_key(repository.root, ResourceType.GIT_CHECKOUT)
    with _locked_store(git, mirrors, key) as mirror:
        _import_objects(repository, git, mirror, head)
        _carry_settings(repository, git, mirror)
        if with_refs:
            _import_refs(repository, git, mirror)
    return mirror


def refresh_settings(repository: Repository, git: Git, mirrors: Path) -> Path:
    """Makes the project's mirror, or brings its ignore rules up to date, and returns its place.

    None of the project's objects are needed there: a sandbox in place has its own files.
    """
    key = store_key(repository.root, ResourceType.GIT_CHECKOUT)
    with _locked_store(git, mirrors, key) as mirror:
        _carry_settings(repository, git, mirror)
    return mirror


def ensure_store(git: Git, mirrors: Path, key: str) -> Path:
    """Returns the private repository for what has no repository of its own, made if need be.

    A kill leaves either none or a usable one.
    """
    with _locked_store(git, mirrors, key) as store:
        return store


@contextmanager
def _locked_store(git: Git, mirrors: Path, key: str) -> Generator[Path]:
    mirrors.mkdir(mode=0o700, parents=True, exist_ok=True)
    store = mirrors / f"{key}.git"
    with exclusive(mirrors / f"{key}.lock"):
        if not store.is_dir():
            _initialise(git, store)
        private = store.with_suffix(PRIVATE)
        private.mkdir(mode=0o700, exist_ok=True)
        for name in SHARED:
            with suppress(FileExistsError):
                (private / name).symlink_to(f"../{store.name}/{name}")
        write_durably(private / "HEAD", b"ref: refs/heads/main\n")
        write_durably(private / "config", _configuration(_OWN_SETTINGS))
        yield store


def _initialise(git: Git, mirror: Path) -> None:
    draft = mirror.with_name(f"{mirror.name}.new")
    if draft.exists():
        shutil.rmtree(draft)
    git.at(draft).run("init", "--bare", "--quiet", "--template=", "--object-format=sha1")
    draft.rename(mirror)
    fsync_directory(mirror.parent)


def _import_objects(repository: Repository, git: Git, mirror: Path, head: str | None) -> None:
    """Links what is new; again when the user's repository was repacked meanwhile."""
    shallow = repository.common_dir / "shallow"
    if shallow.is_file():
        write_durably(mirror / "shallow", shallow.read_bytes())
    else:
        (mirror / "shallow").unlink(missing_ok=True)
    for _ in range(_ATTEMPTS):
        linked: list[Path] = []
        sources = repository.object_directories()
        stayed = [_link_objects(source, mirror / "objects", linked) for source in sources]
        if linked:
            # The user's git does not sync each object either, and checkpoints will need them.
            sync_files(linked)
        if not all(stayed):
            continue
        # Every file of the commit has to be there; its history is the project's affair.
        walk = ("rev-list", "--objects", "--no-walk", "--quiet")
        if head is None or git_on_mirror(git, mirror).succeeds(*walk, head):
            return
        repair = repair_mirror(repository, mirror)
        if repair.damaged_in_project:
            raise damaged_project(repository, repair.damaged_in_project)
    raise ProjectRefusedError(
        str(repository.root),
        f"its commit {head} is incomplete",
        hint="Run `git fsck` in the project",
    )


def damaged_project(repository: Repository, files: Sequence[str]) -> ProjectRefusedError:
    """Returns the error that blames the project for damaged objects, not its mirror."""
    return ProjectRefusedError(
        str(repository.root),
        f"its object {files[0]} is damaged",
        hint="Run `git fsck` in the project",
    )


def _link_objects(source: Path, target: Path, linked: list[Path]) -> bool:
    """Adds what was linked to `linked`; returns whether everything that was seen could be.

    Loose objects come first: what a repack removes is in a pack by then. Of a
    pack the index comes last, because git sees a pack when it sees its index.
    """
    stayed = True
    for fan_out in sorted(source.iterdir()):
        if _FAN_OUT.fullmatch(fan_out.name) and fan_out.is_dir():
            names = [name for name in os.listdir(fan_out) if _LOOSE.fullmatch(name)]
            stayed &= _link_new(fan_out, target / fan_out.name, names, linked)
    packs = source / "pack"
    for index in sorted(os.listdir(packs)) if packs.is_dir() else ():
        if _INDEX.fullmatch(index):
            names = [index.removesuffix(".idx") + ".pack", index]
            stayed &= _link_new(packs, target / "pack", names, linked)
    return stayed


def _link_new(source: Path, target: Path, names: Iterable[str], linked: list[Path]) -> bool:
    """Links what is not there yet; returns False if something has gone meanwhile."""
    present = set(os.listdir(target)) if target.is_dir() else set[str]()
    missing = [name for name in names if name not in present]
    if not missing:
        return True
    target.mkdir(exist_ok=True)
    try:
        for name in missing:
            _link(source / name, target / name)
            linked.append(target / name)
    except FileNotFoundError:
        return False
    return True


def _link(source: Path, target: Path) -> None:
    if source.is_symlink():
        copy_durably(source, target)
        return
    try:
        os.link(source, target)
    except FileExistsError:
        return  # An agent made the same object at this moment.
    except OSError as error:
        if error.errno not in _LINKING_IMPOSSIBLE:
            raise
        copy_durably(source, target)


def _carry_settings(repository: Repository, git: Git, mirror: Path) -> None:
    """Takes over what decides how files look on disk, and what the user never wants captured.

    What an earlier agent configured in the mirror ends here: plans start alike.
    """
    found = git.at(repository.git_dir).settings(of_user=True)
    carried = {key: found[key] for key in _CARRIED_SETTINGS if key in found}
    home, chosen = git.environment.get("HOME", "/nonexistent"), found.get("core.excludesfile")
    default = Path(git.environment.get("XDG_CONFIG_HOME") or f"{home}/.config") / "git/ignore"
    of_user = Path(re.sub(r"^~(?=/)", lambda _: home, chosen)) if chosen else default
    info, contents = repository.common_dir / "info", list[bytes]()
    for path in (of_user, info / "exclude", info / "attributes"):
        contents.append(b"")
        with suppress(OSError):
            if path.is_file():
                contents[-1] = path.read_bytes()
    # The ignore rules that are not in the project's files: the user's, and the repository's own.
    excludes, attributes = b"\n".join(contents[:2]), contents[2]
    for place in (mirror.with_suffix(PRIVATE), mirror):
        write_durably(place / "config", _configuration({**_OWN_SETTINGS, **carried}))
        (place / "info").mkdir(exist_ok=True)
        write_durably(place / "info" / "exclude", excludes)
        write_durably(place / "info" / "attributes", attributes)


def _configuration(settings: Mapping[str, str]) -> bytes:
    lines: list[str] = []
    for key, value in settings.items():
        section, _, name = key.partition(".")
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append(f'[{section}]\n\t{name} = "{escaped}"\n')
    return os.fsencode("".join(lines))


def _import_refs(repository: Repository, git: Git, mirror: Path) -> None:
    """Shows the project's branches as `origin/…` and its tags, as a clone would."""
    ours = git_on_mirror(git, mirror)
    offered = {
        name.replace("refs/heads/", "refs/remotes/origin/", 1): object_id
        for name, object_id in _refs(git.at(repository.git_dir), "refs/heads", "refs/tags").items()
    }
    broken = missing_objects(ours, offered.values())
    wanted = {name: object_id for name, object_id in offered.items() if object_id not in broken}
    present = _refs(ours, "refs/remotes/origin", "refs/tags")
    gone = [name for name in present if name not in wanted and _stands_in_the_way(name, wanted)]
    changed = [name for name in wanted if present.get(name) != wanted[name]]
    # Two transactions: `a` must be gone before `a/b` can be made.
    deletions = [f"delete {name}\n" for name in gone]
    for commands in (deletions, [f"update {name} {wanted[name]}\n" for name in changed]):
        if commands:
            ours.run("update-ref", "--stdin", stdin=os.fsencode("".join(commands)))


def _refs(git: Git, *places: str) -> dict[str, str]:
    listing = os.fsdecode(git.run("for-each-ref", "--format=%(objectname) %(refname)", *places))
    pairs = (line.partition(" ") for line in listing.split("\n") if line)
    return {name: object_id for object_id, _, name in pairs}


def _stands_in_the_way(name: str, wanted: Iterable[str]) -> bool:
    """Branches follow the project; a tag an agent made stays unless its name is needed."""
    return name.startswith("refs/remotes/") or any(
        other.startswith(f"{name}/") or name.startswith(f"{other}/") for other in wanted
    )
