"""Sandboxes, mirrors and databases without a plan, for the features of the snapshot engine."""
