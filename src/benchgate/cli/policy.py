"""``benchgate policy``: the keys of a policy, what they mean, and their defaults."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import TYPE_CHECKING

from benchgate.cli.say import say

if TYPE_CHECKING:
    import argparse

    from benchgate.cli.options import Parsers

PARAGRAPH = re.compile(r":param (\w+): (.*?)(?=\n:param|\Z)", re.DOTALL)


def add_parser(commands: Parsers[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "policy",
        help="list the thresholds of the gate: key, default and meaning",
        description="Each key may stand in a gate.toml, and in --policy KEY=VALUE of any command that judges.",
    )
    parser.set_defaults(execute=execute)


def execute(_: argparse.Namespace) -> int:
    """Print the keys."""
    from benchgate.gates.policy import (
        COUNT_DEFAULTS,
        LOG_DEFAULTS,
        VECTOR_DEFAULTS,
        GatePolicy,
        make_policy,
    )

    meanings = dict(PARAGRAPH.findall(inspect.getdoc(GatePolicy) or ""))
    bench = GatePolicy()
    others = (("samples", VECTOR_DEFAULTS), ("counts", COUNT_DEFAULTS), ("logs", LOG_DEFAULTS))
    for key in GatePolicy.model_fields:
        values: dict[str, list[str]] = {}
        for name, table in others:
            if key in table:
                values.setdefault(make_policy(table).text(key), []).append(name)
        differing = [f"{value} for {', '.join(names)}" for value, names in values.items()]
        say(", ".join([f"{key} = {bench.text(key)}", *differing]))
        text = " ".join(meanings.get(key, "").replace("``", "").split())
        for line in textwrap.wrap(text, 76):
            say(f"    {line}")
    return 0
