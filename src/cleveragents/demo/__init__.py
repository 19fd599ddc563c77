"""What `agents demo` runs: a small project and a plan that goes wrong in the middle."""
