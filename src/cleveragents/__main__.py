"""Makes `python -m cleveragents` the same as `agents`."""

from __future__ import annotations

import sys

from cleveragents.cli.start import main

if __name__ == "__main__":
    sys.exit(main())
