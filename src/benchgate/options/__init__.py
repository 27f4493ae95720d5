"""
The options of a run: which there are, what values they take, where values come from, and which exclude each other.

The option ``trials`` is ``--bench-trials`` under pytest and ``--trials`` under ``benchgate run``. Both read
``BENCHGATE_TRIALS`` from the environment, pytest also ``bench_trials`` from its ini file. The command line wins over
the environment, the environment over the ini file, and that over the class's ``gate.toml``. All of this follows from
one row in :mod:`.table`. Every pytest run loads the table, so it is plain data and nothing here needs pydantic.
"""
