"""Every key, code and command is in the reference: a new one without a word there fails."""

from __future__ import annotations

import argparse
import re
import runpy
from pathlib import Path

import pytest

from benchgate.cli import COMMANDS
from benchgate.gates.conditions import REASONS, REJECTING
from benchgate.gates.deciding import WAYS
from benchgate.gates.policy import GatePolicy
from benchgate.gates.rules import RULES
from benchgate.models.case import CaseTable
from benchgate.taxonomy import RESERVED

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE, HOW_TO = DOCS / "reference", DOCS / "how-to"


def page(name):
    return (REFERENCE / f"{name}.md").read_text("utf-8")


def first_column(text):
    """The words in code in the first column of the tables of a page, in order."""
    rows = re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE)
    return [word for row in rows for word in re.findall(r"`([^`]+)`", row)]


@pytest.mark.parametrize("name", ["api.md", "hooks.md"])
def test_the_tables_from_docstrings_are_as_they_are_now(name):
    script = runpy.run_path(str(REFERENCE / "api_tables.py"))
    assert script["written"](name) == (REFERENCE / name).read_text("utf-8"), "run it"


def test_every_policy_key_is_in_the_table():
    assert sorted(first_column(page("policy"))) == sorted(GatePolicy.model_fields)


def test_the_page_on_statistics_has_the_table_of_what_decides():
    rows = [f"| {row.reason} | {row.what} |" for row in WAYS]
    assert "\n".join(rows) in (DOCS / "explanation" / "statistics.md").read_text("utf-8")


def test_every_reason_code_is_in_the_table_in_its_order_with_what_it_gives():
    rows = re.findall(r"^\| `(\w+)` \| (\S+) \|", page("reason-codes"), re.MULTILINE)
    assert rows == [(code, "**reject**" if code in REJECTING else "hold") for code in REASONS]


def test_every_note_is_in_the_table():
    gates = DOCS.parent / "src/benchgate/gates"
    names = ("notes", "run_notes", "observer_noise", "episodes")
    source = "".join((gates / f"{name}.py").read_text("utf-8") for name in names)
    codes = set(re.findall(r'yield\s*\(?\s*"(\w+)"', source))
    assert codes
    assert codes <= set(first_column(page("reason-codes")))


def test_every_failure_code_of_the_harness_is_in_the_table():
    rows = re.findall(r"^\| `(\w+)` \| (block|warn|info) \|", page("failure-modes"), re.MULTILINE)
    assert dict(rows) == RESERVED


def test_every_key_of_a_case_is_in_the_table():
    assert set(CaseTable.model_fields) <= set(first_column(page("case-toml")))


def commands():
    """The parser of each command, by its name."""
    subparsers = argparse.ArgumentParser().add_subparsers()
    for command in COMMANDS:
        command.add_parser(subparsers)
    return subparsers.choices


def test_every_command_and_every_option_of_it_is_documented():
    how_to = "".join(path.read_text("utf-8") for path in HOW_TO.glob("*.md"))
    # The page on pytest says by which rule `benchgate run` names its options.
    reference = page("pytest") + page("daily") + page("audit")
    written = set(re.findall(r"--[\w-]+", reference + how_to))
    written |= {option.replace("--bench-", "--") for option in written}
    for name, parser in commands().items():
        assert f"`benchgate {name}" in reference
        options = {option for action in parser._actions for option in action.option_strings}
        short = {
            option for option in options if not option.startswith("--")
        }  # beside its long name
        assert not options - written - short - {"--help"}, name


def test_the_rules_of_today_are_the_last_in_their_table():
    table = page("audit").partition("(rules)=")[2]
    numbers = [int(number) for number in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)]
    assert numbers == list(range(RULES + 1))


def test_nobody_is_told_to_install_the_package_from_an_index():
    """Until there is a release nobody holds its name there: whoever takes it would run code where that is typed."""
    root = DOCS.parent
    wrong = [
        f"{path.relative_to(root)}: {found[0]}"
        for path in (root / "README.md", *DOCS.rglob("*.md"), *(root / "src").rglob("*.py"))
        for found in re.finditer(
            r"pytest-benchgate\[|install[^\n]*\bpytest-benchgate\b", path.read_text("utf-8")
        )
    ]
    assert not wrong, "\n".join(wrong)
