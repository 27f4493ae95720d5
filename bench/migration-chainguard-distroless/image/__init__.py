"""What the image of a Dockerfile would be: its stages, files, configuration, and what can run in it."""
