"""Runs that are killed, or fail, at each of their stages in turn."""
