"""Adapters: the outside world behind the ports."""
