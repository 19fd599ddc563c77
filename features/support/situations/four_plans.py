"""Four plans of one project that change the same files, each in its own way."""

from __future__ import annotations

from pathlib import Path

import yaml
from features.support.plans import Plans

STEPS = ("one", "two", "three")


class FourPlans:
    """Each step of each plan writes a file of its own, and adds to one that all of them have."""

    def __init__(self, plans: Plans) -> None:
        self.plans = plans
        self.names = ["north", "east", "south", "west"]
        self.files = [self._write(name) for name in self.names]

    def check(self, name: str, plan_id: str) -> None:
        """Rolls the plan back to each of its checkpoints, the last first."""
        self.plans.chosen = plan_id
        for done in reversed(range(1, len(STEPS) + 1)):
            self.plans.prepare(*self.plans.rollback(f"after {STEPS[done - 1]}", "--yes"))
            found = {
                path.name: path.read_text()
                for path in self.plans.sandbox.iterdir()
                if path.suffix == ".txt"
            }
            assert found == _expected(name, done), (plan_id, done, found)

    def _write(self, name: str) -> Path:
        steps = [
            {
                "name": step,
                "tool": "shell",
                "with": {"command": f"echo {name} >> shared.txt; echo {name} > {name}-{step}.txt"},
            }
            for step in STEPS
        ]
        file = self.plans.world.directory / f"{name}.yaml"
        file.write_text(yaml.safe_dump({"name": f"local/{name}", "steps": steps}))
        return file


def _expected(name: str, done: int) -> dict[str, str]:
    own = {f"{name}-{step}.txt": f"{name}\n" for step in STEPS[:done]}
    return {"shared.txt": f"{name}\n" * done, **own}
