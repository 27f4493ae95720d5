"""What a run leaves behind: built, written, read back and validated."""
