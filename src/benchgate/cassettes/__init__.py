"""The cassettes of a class: what systems returned, recorded by ``--bench-record`` and kept beside the cases."""
