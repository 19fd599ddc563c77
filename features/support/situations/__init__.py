"""Plans and projects in the situations that groups of features share."""
