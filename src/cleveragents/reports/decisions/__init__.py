"""Reports about decisions: the tree of them, one with its reasons, and corrections."""
