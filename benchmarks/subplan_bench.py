"""Subplans: how much sooner two of them are done at once than one after the other."""

from __future__ import annotations

from benchmarks.worktrees import Bench

_WORK = "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; echo $i > {name}.txt"
"""Keeps one processor busy for about a second."""
_PLAN = """\
name: benchmark/subplans
steps:
  - name: both
    subplans:
      mode: {mode}
      plans:
        a: {{steps: [{{tool: shell, with: {{command: "{a}"}}}}]}}
        b: {{steps: [{{tool: shell, with: {{command: "{b}"}}}}]}}
"""


class Subplans:
    """Two children that each keep a processor busy, in a project of some size."""

    params = (["sequential", "parallel"], [100, 10000])
    param_names = ("mode", "files")
    number = 1
    timeout = 600

    def setup(self, mode: str, files: int) -> None:
        self.bench = Bench(files)
        work = {name: _WORK.format(name=name) for name in ("a", "b")}
        self.bench.plan_file.write_text(_PLAN.format(mode=mode, **work))

    def teardown(self, mode: str, files: int) -> None:
        self.bench.close()

    def time_two_children(self, mode: str, files: int) -> None:
        self.bench.run_a_plan()
