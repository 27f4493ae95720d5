"""A class folder becomes a task class and its cases."""
