"""The implementation of :mod:`benchgate.training_types`; import the names from there."""
