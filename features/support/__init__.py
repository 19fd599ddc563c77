"""What the steps stand on."""
