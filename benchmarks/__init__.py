"""Benchmarks, run by ASV: `nox -s benchmark`."""
