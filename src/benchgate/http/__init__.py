"""
The HTTP of a trial, recorded and replayed below its client: for ``httpx``, ``httpx2`` and what is built on them.

Neither library is imported here: the transport takes the one that a request comes from.
"""
