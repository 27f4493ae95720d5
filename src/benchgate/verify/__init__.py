"""Whatever computes again what a file says: single artifacts, records, whole output folders."""
