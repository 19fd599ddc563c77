# Names that a library calls, which vulture cannot see. Read only by scripts/dead_code.py.
_.command_class  # Click: the class of commands added to a group
_.format_commands  # Click: part of the help
_.format_epilog  # Click: part of the help
_.checkpoint_manager  # the container's public face
_.tool_runner  # the container's public face
_.prune_checkpoints  # the service's public face; retention calls its inside
_.text_factory  # sqlite3: what becomes of text
_.of_call  # the store's public face
artifacts_of  # for `plan artifacts`
summary_of  # for `plan artifacts`
