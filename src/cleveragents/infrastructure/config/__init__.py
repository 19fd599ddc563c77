"""Reads and writes the configuration.

The settings themselves (names, types, defaults, and how levels are ranked) are declared in
`cleveragents.domain.settings.registry`; this package only finds the values.

Main objects:
    levels.load_settings: returns the `Settings` for a project, or outside of any project.
    files: reads, changes and replaces one `config.toml`.

Algorithm, strongest level first:
    1. Options of the command line, which the caller passes in.
    2. Environment variables, `CLEVERAGENTS_…`; an empty one counts as unset.
    3. `.cleveragents/config.toml` in the project.
    4. `config.toml` in the home directory.
    5. The default of the setting.
    Each value is checked, even if a stronger level overrides it, and keeps its origin.

Never trust a project: its file cannot be a symbolic link, and may only set what cannot harm the
user. Never read `os.environ` here: callers pass the environment in. Never leave a file half
written: a change replaces the whole file, and keeps comments and order.
"""

from cleveragents.infrastructure.config.levels import (
    find_project,
    global_file,
    is_home,
    load_settings,
    project_file,
)

__all__ = ["find_project", "global_file", "is_home", "load_settings", "project_file"]
