"""What was recorded of a run, and what records it: its outputs are taken over, and no system is called."""
