"""Commands that record observations, judge answers and build them."""
