"""What is observed of an answer: whether it is built and started, and what is seen then."""
