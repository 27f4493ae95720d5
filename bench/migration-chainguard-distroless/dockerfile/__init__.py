"""Reading a Dockerfile: from its text to instructions, words and shell commands."""
