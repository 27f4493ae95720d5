"""``benchgate schema KIND``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from benchgate.artifacts.schemas import schema_kinds, schema_text

if TYPE_CHECKING:
    import argparse


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("schema", help="print the JSON Schema of a kind of artifact")
    parser.add_argument(
        "kind", choices=schema_kinds(), metavar="KIND", help=", ".join(schema_kinds())
    )
    parser.set_defaults(execute=execute)


def execute(given: argparse.Namespace) -> int:
    """Print the schema."""
    sys.stdout.write(schema_text(given.kind))
    return 0
