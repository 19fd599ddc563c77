"""The tools that read and change files, none of which can leave the sandbox.

- One module per tool: `read_write` (read, write, delete), `edit`, `move`, `list`,
  `search`, `patch`. Each holds the tool's declaration and its function.
- `sandbox_files` turns a path from a plan into an open directory inside the sandbox, and reads
  and replaces one file.
- `directories` opens directories step by step and never follows a symlink.
- `walk`, `globs` and `quoting` serve the tools that list and search.

How a tool reaches a file:

1. `sandbox_files` normalizes the path and refuses one that leads outside or to `.git`.
2. It opens the directory above the file, one component after the other, relative to
   the descriptor of the one before. So no symlink can be put in between.
3. The tool works with that descriptor and the file's name, never with a whole path.
4. A new content is written to a temporary file and renamed, so a file is old or new.

`apply-patch` is the exception: git reads and writes the files, with guards of its own.
"""
