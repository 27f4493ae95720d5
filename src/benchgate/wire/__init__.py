"""
Reading and writing: strict models, canonical JSON, readers with size limits, atomic writers.

Nothing is imported here, because the plugin loads one light module of this package in every pytest run.
"""
