"""Use cases: they know the domain and, through ports, the world."""
