"""The tools that a step of a plan can call: built in, registered, or from a package.

- `registry.Tools` is the `ToolBackend` that the application uses. It knows every tool and runs
  it: those that come with the program, shell commands that a plan file declares, and others.
- `plugins` finds the tools of installed packages. `plugin_process` runs one of them.
- `files` holds the tools for files, `sql` the tool for SQLite databases, and `process`
  everything about starting, limiting and ending programs.

What happens in one call:

1. `ToolRunner` checks the input against the tool's declaration, once, and calls `Tools.run`.
2. A file tool runs in this process and cannot leave the sandbox.
3. Whatever may hang (shell commands, searches, functions of packages) runs in a new
   process, with a time limit and bounded output.
4. When that process ends, every process that it left behind is ended too.

A tool never takes checkpoints and never writes to the database of the program: the
application does both, before and after the call.
"""
