"""git: the one place that starts it, its object format, and the layout of a mirror.

Main objects:

- `Git` (`command.py`) runs git with an environment built from nothing, an explicit `--git-dir`
  and no shell. No hook, filter, pager or credential helper ever runs because of us.
- `NewObject`, `stored_pack` (`objects.py`) compute object ids and write packs without git.
- `Repository` (`repository.py`) describes a user's repository without touching it.
- `git_on_mirror` (`command.py`) returns git for a mirror, steered by our configuration only.

An agent can write to every file of a mirror, so our own git takes its configuration from a
second directory, `<key>.private`, that links to the mirror's objects and refs.

Never start git anywhere else, never trust a path that git printed without `-z`, and never write
to the user's repository: `Repository` only reads.
"""
