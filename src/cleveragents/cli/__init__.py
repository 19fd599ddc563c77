"""The `agents` command: the only place that prints."""
