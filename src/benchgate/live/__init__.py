"""Many trials at once in one process."""
