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
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from cleveragents.domain.errors import ProjectRefusedError
from cleveragents.infrastructure.files import (
    copy_durably,
    exclusive,
    fsync_directory,
    write_durably,
)
from cleveragents.infrastructure.sandbox.git import Git
from cleveragents.infrastructure.sandbox.project import Repository

_CARRIED_SETTINGS = (
    "core.autocrlf",
    "core.eol",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.filemode",
    "core.symlinks",
)
_PACK = re.compile(r"pack-[0-9a-f]{40}\.pack")
_FAN_OUT = re.compile(r"[0-9a-f]{2}")
_LOOSE = re.compile(r"[0-9a-f]{38}")
_ATTEMPTS = 3


def refresh_mirror(repository: Repository, git: Git, mirrors: Path, head: str | None) -> Path:
    """Makes the project's mirror, or brings it up to date, and returns its place.

    A kill leaves either no mirror or a usable one: it is built under another
    name and renamed, and every later step only adds.
    """
    mirrors.mkdir(mode=0o700, parents=True, exist_ok=True)
    mirror = mirrors / f"{repository.key}.git"
    with exclusive(mirrors / f"{repository.key}.lock"):
        if not mirror.is_dir():
            _initialise(git, mirror)
        _import_objects(repository, git.at(mirror), mirror, head)
        _carry_settings(repository, git, mirror)
        _import_refs(repository, git, mirror)
    return mirror


def _initialise(git: Git, mirror: Path) -> None:
    draft = mirror.with_name(f"{mirror.name}.new")
    if draft.exists():
        shutil.rmtree(draft)
    git.at(draft).run("init", "--bare", "--quiet", "--template=", "--object-format=sha1")
    configuration = git.at(draft)
    for key, value in {"gc.auto": "0", "core.logAllRefUpdates": "true"}.items():
        configuration.run("config", key, value)
    (draft / "info").mkdir(exist_ok=True)
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
        for source in repository.object_directories():
            _link_objects(source, mirror / "objects")
        if head is None or git.succeeds("rev-parse", "--verify", "-q", f"{head}^{{tree}}"):
            return
    raise ProjectRefusedError(
        str(repository.root),
        f"its commit {head} is incomplete",
        hint="Run `git fsck` in the project",
    )


def _link_objects(source: Path, target: Path) -> None:
    packs = target / "pack"
    for pack in sorted((source / "pack").glob("pack-*.pack")) if (source / "pack").is_dir() else []:
        # The index comes last: git sees a pack when it sees its index.
        index = pack.with_suffix(".idx")
        if _PACK.fullmatch(pack.name) and index.exists():
            _link(pack, packs / pack.name)
            _link(index, packs / index.name)
    fsync_directory(packs)
    for fan_out in sorted(source.iterdir()):
        if not _FAN_OUT.fullmatch(fan_out.name):
            continue
        directory = target / fan_out.name
        names = [name for name in os.listdir(fan_out) if _LOOSE.fullmatch(name)]
        present = set(os.listdir(directory)) if directory.is_dir() else set[str]()
        missing = [name for name in names if name not in present]
        if missing:
            directory.mkdir(exist_ok=True)
            for name in missing:
                _link(fan_out / name, directory / name)
            fsync_directory(directory)


def _link(source: Path, target: Path) -> None:
    if target.exists():
        return
    try:
        os.link(source, target)
    except FileNotFoundError:
        return  # Repacked under our eyes; the caller looks again.
    except FileExistsError:
        return
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.EACCES):
            raise
        with suppress(FileNotFoundError):
            copy_durably(source, target)


def _carry_settings(repository: Repository, git: Git, mirror: Path) -> None:
    """Takes over what decides how files look on disk, and what the user never wants captured."""
    project = git.at(repository.git_dir)
    for key in _CARRIED_SETTINGS:
        value = project.user_setting(key)
        if value is None:
            git.at(mirror).run("config", "--unset-all", key, ok=(0, 5))
        else:
            git.at(mirror).run("config", "--replace-all", key, value)
    write_durably(mirror / "info" / "exclude", _excludes(repository, project))


def _excludes(repository: Repository, project: Git) -> bytes:
    home = project.environment.get("HOME", "/nonexistent")
    default = Path(project.environment.get("XDG_CONFIG_HOME") or f"{home}/.config") / "git/ignore"
    chosen = project.user_setting("core.excludesFile")
    of_user = Path(re.sub(r"^~(?=/)", lambda _: home, chosen)) if chosen else default
    parts: list[bytes] = []
    for path in (of_user, repository.common_dir / "info" / "exclude"):
        with suppress(OSError):
            parts.append(path.read_bytes())
    return b"\n".join(parts)


def _import_refs(repository: Repository, git: Git, mirror: Path) -> None:
    """Shows the project's branches as `origin/…` and its tags, as a clone would."""
    listing = ("for-each-ref", "--format=%(objectname) %(refname)")
    wanted: dict[str, str] = {}
    heads = git.at(repository.git_dir).run(*listing, "refs/heads", "refs/tags")
    for line in os.fsdecode(heads).splitlines():
        object_id, _, name = line.partition(" ")
        wanted[name.replace("refs/heads/", "refs/remotes/origin/", 1)] = object_id
    present: dict[str, str] = {}
    ours = git.at(mirror).run(*listing, "refs/remotes/origin", "refs/tags")
    for line in os.fsdecode(ours).splitlines():
        object_id, _, name = line.partition(" ")
        present[name] = object_id
    gone = [name for name in present if name not in wanted and _stands_in_the_way(name, wanted)]
    changed = [name for name in wanted if present.get(name) != wanted[name]]
    # Two transactions: `a` must be gone before `a/b` can be made.
    _update_refs(git.at(mirror), [f"delete {name}" for name in gone])
    _update_refs(git.at(mirror), [f"update {name} {wanted[name]}" for name in changed])


def _stands_in_the_way(name: str, wanted: Iterable[str]) -> bool:
    """Branches follow the project; a tag an agent made stays unless its name is needed."""
    return name.startswith("refs/remotes/") or any(
        other.startswith(f"{name}/") or name.startswith(f"{other}/") for other in wanted
    )


def _update_refs(git: Git, commands: list[str]) -> None:
    if commands:
        git.run("update-ref", "--stdin", stdin=os.fsencode("\n".join(commands) + "\n"))
