"""The chain of run records, and the store that appends to it."""
