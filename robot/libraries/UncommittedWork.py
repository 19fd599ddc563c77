"""What a person has in their repository and has not committed: some of everything."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from robot.api.deco import keyword, library

SCRIPT = r"""
set -e
echo changed >> README.md
rm run.sh
echo staged > staged && git add staged && echo "changed since" > staged
git rm -q --cached README.md
mkdir -p new/empty new/private && chmod 700 new/private
printf '\000\001\377' > new/blob && chmod 600 new/blob
printf 'line\r\n' > "new/line
end"
ln -s ../README.md new/link
ln -s /nonexistent/target new/dangling
echo meant > meant && git add -N meant
"""


@library(scope="TEST", auto_keywords=False)
class UncommittedWork:
    """Work of all kinds in a repository."""

    @keyword("Work Of All Kinds Is Left In")
    def leave_work(self, repository: str) -> None:
        """Changes, adds, deletes and stages, with links, odd names, modes and empty directories."""
        # Nothing of the person's who runs the tests may decide what git does here.
        clean = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
        isolated = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
        command = ["/bin/sh", "-c", SCRIPT]
        subprocess.run(command, cwd=repository, env=clean | isolated, check=True)

    @keyword("Another Repository Is Made In")
    def make_another(self, repository: str) -> None:
        Path(repository, "inner", ".git").mkdir(parents=True)
        Path(repository, "inner", ".git", "HEAD").write_text("ref: refs/heads/main\n")
