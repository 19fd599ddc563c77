"""Rules and records: no I/O, no framework but pydantic."""
