"""Loads a task class and its cases from its folder."""
