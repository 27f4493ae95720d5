"""Trials on the workers of a Dask cluster; ``distributed`` is imported only when a run asks for one."""
