"""Private copies of projects, and snapshots of them."""
