"""Tools: what a tool declares, one call of it, and effects that no restore can undo.

- `ToolSpec` (`tool.py`) declares whether a tool writes; checkpoints follow from that.
- `ToolCall` (`tool.py`) is one execution: intent first, outcome last.
- `Effect` (`tool.py`) is an irreversible effect. The list is read from the calls, so it
  cannot disagree with them.

Never let a tool run whose intent is not stored, or whose input does not match its declaration.
"""
