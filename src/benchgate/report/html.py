"""The page: one HTML file without scripts, that asks for nothing from anywhere."""

from __future__ import annotations

import base64
import hashlib
import html
import importlib.util
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from benchgate.errors import EvalError, counted, excerpt, printable
from benchgate.report import words
from benchgate.report.source import read_source
from benchgate.report.view import view_of
from benchgate.sentences.formats import confidence
from benchgate.wire.usage import usd
from benchgate.wire.writing import write_file
from benchgate.wording.lines import labelled

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from benchgate.report.source import OfLogs
    from benchgate.report.view import RunView


def check_jinja() -> None:
    """
    Check that the library which fills in the page is there.

    :raises EvalError: it is not installed.
    """
    if importlib.util.find_spec("jinja2") is None:
        msg = "the page needs Jinja2: pip install jinja2"
        raise EvalError(msg)


def write_page(paths: Iterable[Path], target: Path, *, of_logs: OfLogs | None = None) -> None:
    """
    Write the page of some runs and proofs.

    :param of_logs: what else is known of two logs that were judged just now.
    :raises EvalError: one cannot be read, Jinja2 is missing, or the file cannot be written.
    """
    check_jinja()
    read_texts = None
    if of_logs is not None:
        read_texts = of_logs.read_texts
    views = [view_of(read_source(path, of_logs), read_texts=read_texts) for path in paths]
    write_file(target, page(views).encode())


def page(views: list[RunView]) -> str:
    """Return the page as text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def verbatim(text: str) -> Markup:
        # Quotes need no escape where a text stands in an element, and outputs have many of them.
        return Markup(html.escape(printable(text, "\n"), quote=False))  # noqa: S704 - escaped

    style = (files("benchgate.report") / "page.css").read_text("utf-8")
    environment = Environment(
        loader=PackageLoader("benchgate", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (confidence, usd, excerpt, counted, verbatim, place, labelled)
    for function in (*filters, words.number, words.signed, words.sentence, words.named):
        environment.filters[function.__name__] = function
    sha256 = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    template = environment.get_template("page.html")
    safe = Markup(style)  # noqa: S704 - a file of ours
    return template.render(views=views, style=safe, style_sha256=sha256, words=words)


def place(value: float, low: float, high: float) -> float:
    """Return where a value is on a plot, in percent of its width; a value beyond the ends is at the end."""
    share = (value - low) / ((high - low) or 1.0)
    # A mark at an end of the plot needs some room beside it.
    return 4 + 92 * min(max(share, 0.0), 1.0)


def _visible(value: Any) -> Any:
    """Show control and format characters of every text on the page, which could hide or reorder what stands there."""
    if type(value) is str:
        return printable(value, "\n")
    if value is None:
        return ""
    return value
