"""Plans: what a plan file says, one run of it, and what happens to that run.

- `PlanDefinition` (`plan_file.py`) is the content of a plan file, stored with each plan.
- `Plan` (`plan.py`) is one run: phase, state, last step, last checkpoint. `transition` is the
  table of what may happen to it.
- `step_sequence` (`plan.py`) lists the steps that run, with the chosen option of each decision.

What comes before a decision is the same whichever option is chosen, so step numbers stay true.
Never add a state without a row in the transition table.
"""
