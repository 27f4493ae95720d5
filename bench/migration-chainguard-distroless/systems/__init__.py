"""The systems under test that ship with the bench: offline and deterministic."""
