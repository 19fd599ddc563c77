"""Properties of the program that hold for whatever Hypothesis thinks of."""
