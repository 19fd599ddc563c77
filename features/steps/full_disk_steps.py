from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from behave import given, when
from behave.runner import Context
from features.support.plans import plans
from features.support.situations.applies import applies
from features.support.sweeps.apply_sweep import ApplySweep

WORK = (
    "for i in 1 2 3 4; do head -c 9000 /dev/urandom > n$i; done; rm src/app.py; echo 1 >> list.txt"
)


@given("a plan whose project is on a small disk of its own")
def small_disk(context: Context) -> None:
    project = context.world.project
    aside = context.world.directory / "aside"
    shutil.copytree(project, aside, symlinks=True)
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m,mode=755", "tmpfs", project],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        context.scenario.skip("the system lets us mount nothing")
        return
    context.mounted = project
    shutil.copytree(aside, project, symlinks=True, dirs_exist_ok=True)
    with unmounted_on_failure(project):
        applies(context).prepare("true", WORK)
        plans(context).run()


@when("the apply is tried with room for {pages:d} pages")
def tried_full(context: Context, pages: int) -> None:
    try:
        context.found = [ApplySweep(applies(context)).with_free_pages(pages)]
    finally:
        subprocess.run(["umount", "-l", context.mounted], check=False)


@contextmanager
def unmounted_on_failure(place: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        subprocess.run(["umount", "-l", place], check=False)
        raise
