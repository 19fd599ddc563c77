"""What can go wrong, and how a scenario makes it happen: failures, kills, damage, intruders."""
