"""Reports about checkpoints, and about rollbacks, undos and redos, which restore them.

`checkpoint` describes the checkpoints themselves, `rollbacks` the operations, and `restores`
has what every report about a restored sandbox shares, corrections included.
"""
