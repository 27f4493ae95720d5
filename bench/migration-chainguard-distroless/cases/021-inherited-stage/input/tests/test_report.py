"""Shows that tests are found."""

import unittest


class Nothing(unittest.TestCase):
    """Holds no test yet."""
