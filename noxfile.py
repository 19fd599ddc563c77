"""The checks of this project; `nox` runs them all, `nox -l` lists them.

Every session uses the environment that nox itself is installed in
(docs/adr/0007-one-environment-for-all-sessions.md): `pip install -e '.[dev]'` is enough.
The suites write JUnit files to `build/results/<suite>/`, which `scripts/totals.py` adds up.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nox

nox.options.default_venv_backend = "none"
nox.options.error_on_missing_interpreters = False
nox.options.sessions = [
    "lint",
    "format",
    "typecheck",
    "imports",
    "dead_code",
    "trace",
    "security_scan",
    "unit_tests",
    "property_tests",
    "integration_tests",
    "docs",
    "build",
    "coverage_report",
    "benchmark",
]

ROOT = Path(__file__).parent
BUILD = ROOT / "build"
RESULTS = BUILD / "results"
PYTHON = sys.executable
CODE = ("src", "features", "property_tests", "robot", "benchmarks", "scripts", "noxfile.py")
COVERAGE = (PYTHON, "-m", "coverage", "run")
SLOW_FEATURES = ("fault_points", "apply_faults", "apply_resources", "operation_faults")
MEMORY = Path("/dev/shm")


def tool(name: str) -> str:
    """The command `name` of the environment that nox runs in."""
    return str(Path(PYTHON).parent / name)


def emptied(directory: Path) -> Path:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    return directory


@nox.session
def lint(session: nox.Session) -> None:
    """Rules of style: Python, Robot, features."""
    session.run(PYTHON, "-m", "ruff", "check", *CODE)
    session.run(PYTHON, "-m", "robocop", "check", "robot")
    session.run(PYTHON, "scripts/lint_features.py", "features")


@nox.session(name="format")
def format_check(session: nox.Session) -> None:
    """Whether the formatter would change anything."""
    session.run(PYTHON, "-m", "ruff", "format", "--check", *CODE)
    session.run(PYTHON, "-m", "robocop", "format", "--check", "--no-overwrite", "robot")


@nox.session(default=False)
def format_fix(session: nox.Session) -> None:
    """Formats the code and makes the safe repairs."""
    session.run(PYTHON, "-m", "ruff", "check", "--fix-only", *CODE)
    session.run(PYTHON, "-m", "ruff", "format", *CODE)
    session.run(PYTHON, "-m", "robocop", "format", "robot")


@nox.session
def typecheck(session: nox.Session) -> None:
    """Pyright, strict for the package."""
    session.run(
        PYTHON,
        *("-m", "pyright", "--pythonpath", PYTHON),
        env={"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
    )


@nox.session
def imports(session: nox.Session) -> None:
    """Whether imports point inwards."""
    session.run(tool("lint-imports"), "--no-cache")


@nox.session
def dead_code(session: nox.Session) -> None:
    """Names that nothing uses."""
    session.run(PYTHON, "scripts/dead_code.py")


@nox.session
def trace(session: nox.Session) -> None:
    """How many modules and functions a step, a rollback and an apply go through."""
    limits = ("step=36/154", "rollback=36/220", "apply=48/302")
    session.run(PYTHON, "scripts/trace_calls.py", "--limit", *limits)


@nox.session
def security_scan(session: nox.Session) -> None:
    """Known dangerous patterns in the package."""
    session.run(PYTHON, "-m", "bandit", "-q", "-c", "pyproject.toml", "-r", "src")


@nox.session
def unit_tests(session: nox.Session) -> None:
    """Behave, in two processes at a time, measured. Arguments go to one plain `behave`."""
    if session.posargs:
        session.run(PYTHON, "-m", "behave", *session.posargs)
        return
    emptied(BUILD / "coverage")
    results = emptied(RESULTS / "behave-service")
    behave = (*COVERAGE, "-m", "behave", "--format=progress")
    passed = two_at_a_time(
        (*place, *behave, "--junit", "--junit-directory", str(results), *map(str, features))
        for place, features in chunks_of_features()
    )
    session.run(PYTHON, "scripts/totals.py", "behave-service", success_codes=[0, 1])
    if not passed:
        session.error("A scenario failed")


@nox.session(default=False)
def golden(session: nox.Session) -> None:
    """Writes the screens in `features/golden` anew; read the difference before committing it."""
    for file in Path("features/golden").glob("*.txt"):
        file.unlink()
    session.run(PYTHON, "-m", "behave", "--tags=@golden", "--define=golden=write", "features")


def chunks_of_features() -> list[tuple[Sequence[str], list[Path]]]:
    """The feature files in parts, each with what it is to be started by; the longest first.

    What is about files as a disk has them is tagged `@disk`. All else waits for the disk
    very much and says nothing about it, so it works in memory where there is room.
    """
    features = largest_first(Path("features").rglob("*.feature"))
    on_disk = [file for file in features if file.read_text().startswith("@disk")]
    slow = [Path("features", f"{name}.feature") for name in SLOW_FEATURES]
    others = [file for file in features if file not in (*on_disk, *slow)]
    return [
        *((in_memory(), [file]) for file in slow),
        *(((), on_disk[number::3]) for number in range(3)),
        *((in_memory(), others[number::6]) for number in range(6)),
    ]


def in_memory() -> Sequence[str]:
    has_room = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 2 << 30
    return ("env", f"TMPDIR={MEMORY}") if has_room else ()


def largest_first(files: Iterable[Path]) -> list[Path]:
    return sorted(files, key=lambda file: (-file.stat().st_size, file))


def two_at_a_time(commands: Iterable[Sequence[str]]) -> bool:
    """Runs commands, shows what each printed when it has ended, and says whether all succeeded."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        statuses = list(pool.map(run_quietly, commands))
    return not any(statuses)


def run_quietly(command: Sequence[str]) -> int:
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    print(done.stdout, flush=True)
    return done.returncode


@nox.session
def property_tests(session: nox.Session) -> None:
    """Hypothesis under unittest, two modules at a time, measured. `-- long` looks for longer."""
    profile = session.posargs[0] if session.posargs else "ci"
    results = emptied(RESULTS / "properties")
    passed = two_at_a_time(
        (
            *(*COVERAGE, "-m", "property_tests", module.stem),
            *("--profile", profile, "--junit", str(results / f"{module.stem}.xml")),
        )
        for module in largest_first(Path("property_tests").glob("test_*.py"))
    )
    if not passed:
        session.error("A property does not hold")


@nox.session
def integration_tests(session: nox.Session) -> None:
    """Robot against the wheel, installed in an environment of its own, two suites at a time."""
    place = emptied(BUILD / "integration")
    session.run(
        *(PYTHON, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(place)), silent=True
    )
    session.run(PYTHON, "-m", "venv", str(place / "venv"))
    (wheel,) = place.glob("*.whl")
    session.run(
        str(place / "venv/bin/python"),
        *("-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)),
        external=True,
    )
    agents = ("--variable", f"AGENTS:{place / 'venv/bin/agents'}")
    output = emptied(BUILD / "robot")
    robot = (PYTHON, "-m", "robot", "--console", "dotted", *agents, "--outputdir")
    if session.posargs:
        session.run(*robot, str(output), *session.posargs)
        return
    results = emptied(RESULTS / "robot")
    passed = two_at_a_time(
        (
            *(*robot, str(output / suite.stem), "--xunit", str(results / f"{suite.stem}.xml")),
            *("--suite", suite.stem, "robot"),
        )
        for suite in largest_first(Path("robot").glob("[!_]*.robot"))
    )
    if not passed:
        session.error("A Robot test failed")


@nox.session(default=False)
def campaign(session: nox.Session) -> None:
    """The random operations for hours instead of minutes; run it before a release."""
    for name in ("test_promises", "test_operations"):
        session.run(PYTHON, "-m", "property_tests", "--profile", "long", name)


@nox.session(default=False)
def disk_sweep(session: nox.Session) -> None:
    """Fills the disks at every page that a command writes; `unit_tests` fills them at some."""
    session.run(PYTHON, "-m", "behave", "-D", "sweep=whole", "features/full_disks.feature")


@nox.session
def docs(session: nox.Session) -> None:
    """The generated pages are up to date, links lead somewhere, the site builds."""
    session.run(PYTHON, "scripts/generate_docs.py", "--check")
    session.run(PYTHON, "scripts/check_links.py")
    session.run(PYTHON, "-m", "zensical", "build", "--strict", "--clean")


@nox.session
def build(session: nox.Session) -> None:
    """The source archive, and the wheel made from it."""
    place = emptied(BUILD / "dist")
    session.run(PYTHON, "-m", "build", "--no-isolation", "--outdir", str(place), silent=True)
    session.log(", ".join(sorted(file.name for file in place.iterdir())))


@nox.session
def coverage_report(session: nox.Session) -> None:
    """What the suites before it have run of the package, branches included."""
    # Status 1: nothing new since the last report, which is then shown again.
    combine = (PYTHON, "-m", "coverage", "combine", "--append", "--quiet")
    session.run(*combine, success_codes=[0, 1])
    session.run(PYTHON, "-m", "coverage", "report")


@nox.session
def benchmark(session: nox.Session) -> None:
    """Each benchmark once, so that none of them rots. Arguments go to `asv run`."""
    home = emptied(BUILD / "asv-home")
    environment = {"HOME": str(home), "ASV_PYTHON": PYTHON}
    session.run(PYTHON, "-m", "asv", "machine", "--yes", env=environment, silent=True)
    session.run(
        *(PYTHON, "-m", "asv", "run", "--python=same", "--quick", "--show-stderr"),
        *session.posargs,
        env=environment | {"PATH": os.pathsep.join([str(Path(PYTHON).parent), os.environ["PATH"]])},
    )


@nox.session(default=False)
def startup(session: nox.Session) -> None:
    """The common commands beside a bare interpreter; fails when one takes more than its limit."""
    session.run(PYTHON, "-m", "benchmarks.startup_bench", *session.posargs)


@nox.session(default=False)
def server(session: nox.Session) -> None:
    """A checkpoint with its records on a server beside a file; fails when it takes too long."""
    session.run(PYTHON, "-m", "benchmarks.server_bench", *session.posargs)


@nox.session(default=False)
def compare(session: nox.Session) -> None:
    """Ours beside the techniques of other tools; `-- --quick` for a look, `-- --help` for more."""
    session.run(PYTHON, "-m", "benchmarks.compare.run", *session.posargs)
