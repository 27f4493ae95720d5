"""The parts of :mod:`benchgate.training_types`; import the names from there."""
