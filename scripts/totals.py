"""Adds up what the suites wrote under `build/results/<suite>/` as JUnit files.

Names of suites as arguments restrict it to them. What failed is shown with its reason.
The last line is `N passed, N failed`, with `, N skipped` where there were any. The exit
status is 1 when a test failed or a suite that should have run did not.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

RESULTS = Path(__file__).parent.parent / "build" / "results"
EXPECTED = ("behave-service", "properties", "robot")


class Counts(NamedTuple):
    """How the tests of one suite ended."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def plus(self, other: Counts) -> Counts:
        return Counts(*(mine + yours for mine, yours in zip(self, other, strict=True)))

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def read(file: Path) -> Counts:
    """The counts of one JUnit file, each test case looked at; prints those that failed."""
    total = Counts()
    for case in ElementTree.parse(file).iter("testcase"):
        reasons = [*case.iter("failure"), *case.iter("error")]
        if reasons:
            total = total.plus(Counts(failed=1))
            print(f"FAILED {case.get('classname', file.parent.name)}: {case.get('name')}")
            print((reasons[0].text or reasons[0].get("message") or "").strip()[:3_000], end="\n\n")
        elif case.find("skipped") is not None:
            total = total.plus(Counts(skipped=1))
        else:
            total = total.plus(Counts(passed=1))
    return total


def main() -> int:
    found = {path.name for path in RESULTS.glob("*") if path.is_dir()}
    suites = sorted(set(sys.argv[1:]) or {*EXPECTED, *found})
    counts = {suite: Counts() for suite in suites}
    for suite in suites:
        for file in sorted((RESULTS / suite).glob("*.xml")):
            counts[suite] = counts[suite].plus(read(file))
    total = Counts()
    for suite in suites:
        total = total.plus(counts[suite])
        print(f"{suite}: {counts[suite] if sum(counts[suite]) else 'did not run'}")
    print()
    print(total)
    return 1 if total.failed or not all(map(sum, counts.values())) else 0


if __name__ == "__main__":
    sys.exit(main())
