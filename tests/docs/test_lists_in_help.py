"""Lists that a help text names are those of the code: the roles of ``--map``, and the trust tiers."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import pytest

from benchgate.cli import verdict
from benchgate.cli.gate_logs import add_reading
from benchgate.errors import EvalError
from benchgate.interop import read
from benchgate.interop.roles import CASE_ROLES, ROLES
from benchgate.promotion.tiers import TIERS

DOCS = Path(__file__).parents[2] / "docs"
FIELDS = {"name": "a", "grade": 1, "again": 1, "harmed": 0.1, "broke": "no model", "other": "x"}
"""A row whose fields have no usual name, so that nothing is found in it unless a map says so."""
FIELD_OF = {
    "case": "name",
    "score": "grade",
    "passed": "again",
    "reruns": "again",
    "harm": "harmed",
    "safety": "harmed",
    "penalty": "harmed",
    "error": "broke",
}


def test_the_help_lists_the_roles():
    parser = argparse.ArgumentParser()
    add_reading(parser)
    listed = re.search(r"its (.*?), as in", re.sub(r"\s+", " ", parser.format_help()))
    assert listed[1].split(", ") == list(ROLES)


@pytest.mark.parametrize("given", [{"guess": "name"}, "guess.toml"])
def test_another_role_is_refused_with_the_list(tmp_path, given):
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps(FIELDS))
    if isinstance(given, str):
        file = tmp_path / given
        file.write_text('guess = "name"\n')
        given = file
    with pytest.raises(EvalError, match=", ".join(ROLES)):
        read(log, map=given)


@pytest.mark.parametrize("role", ROLES)
def test_each_role_is_read(tmp_path, role):
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps(FIELDS))
    field = FIELD_OF.get(role, "other")
    found = read(log, map={"case": "name", "score": "grade", role: field})
    assert (role, field, "--map") in found.fields


def test_the_how_to_explains_each_role():
    text = (DOCS / "how-to" / "gate-existing-logs.md").read_text("utf-8")
    (table,) = re.findall(r"^\| role \|.*\n((?:\|.*\n)+)", text, re.MULTILINE)
    explained = re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE)
    words = [word for cell in explained for word in re.findall(r"`(\w+)`", cell)]
    assert "`penalty` is its other name" in table
    assert sorted([*words, "penalty"]) == sorted(ROLES)


def test_the_reference_lists_the_roles():
    text = (DOCS / "reference" / "daily.md").read_text("utf-8")
    of_gate, of_new = re.findall(r"^\| `--map .*$", text, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", of_gate)) == sorted(ROLES)
    assert sorted(re.findall(r"`(\w+)`", of_new)) == sorted(CASE_ROLES)


def test_the_command_knows_the_tiers_without_importing_them():
    assert verdict.TIER_NAMES == TIERS
