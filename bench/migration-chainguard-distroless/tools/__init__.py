"""What makes the tables of the README."""
