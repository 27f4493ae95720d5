"""Trials in processes of their own, which end with all that a system has started before its output is scored."""
