"""Another way to run a trial: its output is taken from what was recorded, and no system is called."""
