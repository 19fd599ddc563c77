"""Decisions: the choices of a plan, and how a user corrects them.

- `Decision` (`decision.py`) is one choice with its options and what it is based on.
- `CorrectionAttempt` (`correction.py`) is one correction, including failed ones;
  `affected_by` finds the decisions that depend on a given one.

A superseded decision stays as a record. Never delete or overwrite one.
"""
