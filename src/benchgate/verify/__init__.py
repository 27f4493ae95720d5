"""Recomputes what files say and compares: single artifacts, records, whole output folders."""
