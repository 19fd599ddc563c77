"""Runs every property under unittest: `python -m property_tests [--profile long] [NAME…]`."""

from __future__ import annotations

import argparse
import sys
import unittest
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from hypothesis import HealthCheck, settings

HERE = Path(__file__).parent

settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "long",
    deadline=None,
    max_examples=5_000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)


def flat(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    """Every test of a suite, however deep."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def write_junit(names: list[str], result: unittest.TestResult, file: Path) -> None:
    """Writes one test case for each test, the form the other suites write too."""
    failed = {test.id(): text for test, text in [*result.failures, *result.errors]}
    failed |= {test.id(): "unexpected success" for test in result.unexpectedSuccesses}
    skipped = {test.id(): reason for test, reason in result.skipped}
    suite = ElementTree.Element("testsuite", name="properties")
    for name in dict.fromkeys([*names, *failed, *skipped]):
        case = ElementTree.SubElement(suite, "testcase", name=name)
        if name in failed:
            ElementTree.SubElement(case, "failure").text = failed[name]
        elif name in skipped:
            ElementTree.SubElement(case, "skipped").text = skipped[name]
    file.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(suite).write(file, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="property_tests")
    parser.add_argument("--profile", choices=("ci", "long"), default="ci")
    parser.add_argument("--junit", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help="module, class or test")
    arguments = parser.parse_args()
    settings.load_profile(arguments.profile)
    loader = unittest.TestLoader()
    suite = (
        loader.loadTestsFromNames([f"property_tests.{name}" for name in arguments.names])
        if arguments.names
        else loader.discover(str(HERE), top_level_dir=str(HERE.parent))
    )
    names = [test.id() for test in flat(suite)]
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    if arguments.junit:
        write_junit(names, result, arguments.junit)
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
