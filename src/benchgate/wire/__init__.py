"""
Bytes in and out: strict models, canonical JSON, bounded readers, atomic writers.

Nothing is imported here: the plugin needs one light module of it in every pytest run.
"""
