"""The files that a run leaves: their models, how they are built and how they are read."""
