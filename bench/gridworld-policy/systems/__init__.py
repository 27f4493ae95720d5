"""Systems under test of this class."""
