"""Who looks for the tests of something finds one file: no name stands in two folders."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).parents[1]


def test_no_name_of_a_test_file_stands_in_two_folders():
    folders = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        folders[path.name].append(path.parent.relative_to(TESTS).as_posix())
    twice = {name: found for name, found in folders.items() if len(found) > 1}
    assert twice == {}
