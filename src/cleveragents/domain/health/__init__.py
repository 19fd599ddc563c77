"""What `agents doctor`, `gc` and `verify` report.

- `HealthReport` and `Check` (`health.py`): one result per check, with what to do about it
- `GarbageReport` and `VerifyReport` (`maintenance.py`): what was reclaimed, what can be restored

These records only describe. They never decide what is removed or fixed.
"""
