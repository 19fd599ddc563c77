"""Ours beside the techniques of known tools, on equal trees in one run: `nox -s compare`."""
