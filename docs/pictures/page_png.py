"""
Draw ``page-promote.png``, ``page-hold.png``, ``page-reject.png`` and ``comment.png``: real runs of a shipped bench.

::

    python docs/pictures/page_png.py

It needs the dependency groups ``browser`` and ``docs``, and a Chromium of the system. The pages are what
``--bench-html`` writes, as far as a screen shows them; the comment is what ``benchgate report`` prints, rendered as
GitHub does it, without its style sheet.
"""
# ruff: noqa: INP001, S603

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURES = Path(__file__).parent
TASK_CLASS = "gridworld-policy"
RUNS = {
    "promote": [],
    "hold": ["--bench-policy=min_delta=0.2"],
    "reject": ["--bench-system=reckless", "--bench-baseline=run:late"],
}
"""What each picture is a run with."""

COMMENT = """<!DOCTYPE html><meta charset="utf-8"><style>
body { font: 14px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #1f2328; margin: 16px; width: 940px; }
table { border-collapse: collapse; } td, th { border: 1px solid #d1d9e0; padding: 6px 10px; }
code { background: #eff1f3; padding: 2px 5px; border-radius: 6px; font-size: 12px; }
h3 { border: 0; margin: 0 0 10px; } .comment { border: 1px solid #d1d9e0; border-radius: 6px; padding: 16px; }
</style><div class="comment">"""


def run(out: Path, name: str) -> Path:
    """Run the bench and return the folder of its record."""
    command = [sys.executable, "-m", "pytest", f"--bench={TASK_CLASS}", f"--bench-out={out}"]
    page = f"--bench-html={out / f'{name}.html'}"
    settings = {
        "PYTEST_ADDOPTS": "-q -p no:cacheprovider -p no:randomly",
        "GITHUB_STEP_SUMMARY": "",
    }
    subprocess.run(
        [*command, page, *RUNS[name]],
        cwd=ROOT,
        env={**os.environ, **settings},
        stdout=subprocess.DEVNULL,
        check=False,  # a hold is no success
    )
    return max((out / "runs" / TASK_CLASS).glob("0*"))


def comment(folders: list[Path]) -> str:
    """Return the Markdown of some runs as HTML, the details of the last one open."""
    from markdown_it import MarkdownIt

    from benchgate.report.markdown import markdown_of

    made = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown_of(folders))
    before, mark, after = made.rpartition("<details>")
    return f"{COMMENT}{before}{mark.replace('details', 'details open')}{after}</div>"


def main() -> None:
    """Draw all pictures."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as started:
        out = Path(temporary)
        folders = {name: run(out, name) for name in RUNS}
        (out / "comment.html").write_text(comment([folders["reject"]]), "utf-8")
        browser = started.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1000, "height": 900})
        for name in RUNS:
            page.goto((out / f"{name}.html").as_uri())
            page.screenshot(path=PICTURES / f"page-{name}.png")
        page.goto((out / "comment.html").as_uri())
        page.locator(".comment").screenshot(path=PICTURES / "comment.png")
        browser.close()


if __name__ == "__main__":
    main()
