# mypy: allow-untyped-defs, allow-untyped-calls
"""Which names of packages are older versions of one that there is, and which are mistakes."""

import pytest
from _benchgate_bench.migration_chainguard_distroless.observers.standins import packages


@pytest.mark.parametrize(
    ("name", "had"),
    [
        ("nodejs-22", True),
        ("gradle-8", True),
        ("postgresql-16-client", True),
        ("php-8.1-pdo_mysql", True),
        ("py3.9-pip", True),
        ("libfmt11", True),
        # There is one.
        ("nodejs-24", False),
        ("py3.10-pip", False),
        # The recipe of that version makes no such package: it is Debian's name.
        ("openjdk-17-jre-headless", False),
        # Newer than all, or a version of another kind.
        ("nodejs-99", False),
        ("nodejs-22.11", False),
        # Names of Debian, Alpine and RPM, of which Wolfi never had another version.
        ("libpq-dev", False),
        ("libpq5", False),
        ("libssl1.1", False),
        ("python3.11-venv", False),
        ("php8.2-fpm", False),
        ("postgresql-client-15", False),
        ("postgresql15-client", False),
        ("openjdk17-jre", False),
        ("java-17-openjdk", False),
    ],
)
def test_a_name_that_the_list_lacks_is_an_older_version_or_a_mistake(name, had):
    assert packages.streams().had(name) is had


def test_every_name_was_there_once_its_recipe_is_gone():
    """As when Wolfi deletes the recipe of a version, which keeps what it made in the repository."""
    names = ["nodejs-22", "nodejs-22-doc", "nodejs-24", "nodejs-24-doc", "py3.11-a", "py3.12-a"]
    left = packages.Streams(name for name in names if "-22" not in name)

    assert all(packages.Streams(names).had(name) is False for name in names)
    assert left.had("nodejs-22")
    assert left.had("nodejs-22-doc")
    assert not left.had("nodejs-22-npm")
