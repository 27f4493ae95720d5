"""Running a task class: the engine behind pytest and the command line."""
