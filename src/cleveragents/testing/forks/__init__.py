"""What `Sandboxes` and `SnapshotStore` must do together when a sandbox is forked.

`files.CONTRACT` lists every obligation, including those about git.
"""
