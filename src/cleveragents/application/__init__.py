"""Use cases: services, the ports they need, and the events they emit.

- `services`: what users can do with plans
- `ports`: what services need from the outside
- `events.py`: progress that is shown and forgotten
- `fault_points.py`: names of the moments between durable steps, where tests kill the process

Imports `domain` only. Never prints, never reads the environment, never starts a process.
"""
