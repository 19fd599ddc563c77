"""Runs programs for tools: limited in time and output, and nothing stays behind.

- `run.run_process` starts one program for a tool call, collects what it prints and
  ends it. Everything else here either uses it or is a part of it.
- `shell` runs shell commands; `python_function` runs a Python function in a new
  interpreter, and `function_main` is what that interpreter executes.
- `leftover_processes` finds and ends the processes that a call or a killed run left.
- `environment` says which variables a program gets; `output` bounds what it prints.

How one program runs:

1. It starts in a new session. Its environment names the plan and the call.
2. Its output is read until it exits, its time is up, or the user wants to stop.
3. Every process of its session, or with its call in the environment, is asked to end,
   and killed two seconds later.
4. Only then does the call return or fail.

Nothing here may fork this process: it has threads, and a fork copies the locks that
they hold but not the threads that would release them.
"""
