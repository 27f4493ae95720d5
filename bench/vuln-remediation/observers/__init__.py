"""What is observed of an answer to a case with code: whether the project installs, and what its own tests say."""
