"""
Every console session of the docs does what the page says.

A page is run from its top to its end in a project of its own (``PROJECTS`` in ``conftest.py``): files that it shows are
written, commands after ``$`` are run in one bash, and what they print is compared with what the page shows.

* ``...`` in a line stands for what is different in every run: times, digests, paths.
* A line ``...`` stands for any lines, ``... 20 more cases`` for exactly 20.
* Of a command without output on the page only the exit status is compared: it is 0.

Commands that are not run, such as ``pip install``, are in blocks of another language: ``sh``.

``UPDATE_SNAPSHOTS=1`` writes what the commands printed into the pages, and leaves their dots; read the difference.
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from shlex import quote
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[2]
FENCE = re.compile(
    r"(?:^`(?P<named>[\w./-]+)`:\n\n)?"
    r"^(?P<indent> *)```(?P<info>[^`\n]*)\n(?P<body>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
CAPTION = re.compile(r"\A:caption: (?P<path>\S+)\n+")
SEPARATOR = "\x1e"


@dataclass
class File:
    """A file that a page shows under its path."""

    path: str
    text: str


@dataclass
class Command:
    """A command with the output that a page shows; empty if it shows none."""

    text: str
    output: str


def steps(text):
    """Yield the files and commands of a page in their order."""
    for match in FENCE.finditer(text):
        info, body = match["info"].split(), dedent(match["body"])
        caption = CAPTION.match(body)
        path = caption["path"] if caption else match["named"]
        if info[-1:] == ["console"]:
            yield from commands(body)
        elif path:
            yield File(path, CAPTION.sub("", body))


def commands(body):
    """Yield the commands of a console session; a backslash at the end of a line goes on on the next."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, output = re.fullmatch(r"((?:[^\n]*\\\n)*[^\n]*)\n(.*)", part, re.DOTALL).groups()
        yield Command(command, output.rstrip("\n"))


def pages():
    texts = {
        path: path.read_text("utf-8") for path in (ROOT / "README.md", *ROOT.glob("docs/**/*.md"))
    }
    return sorted(
        path.relative_to(ROOT).as_posix()
        for path, text in texts.items()
        if any(isinstance(step, Command) for step in steps(text))
    )


def script(found, root):
    """Return a bash script that does the steps of a page; after each command it prints its exit status."""
    lines = [f"cd {quote(str(root))}", "status=0"]
    for step in found:
        if isinstance(step, File):
            target = root / step.path
            lines.append(f"mkdir -p {quote(str(target.parent))}")
            lines.append(f"cat > {quote(str(target))} <<'END OF FILE'\n{step.text}END OF FILE")
        else:
            # The next command may ask for $?.
            lines.append(f"(exit $status)\n{step.text}\nstatus=$?")
            lines.append(f"printf '{SEPARATOR}%s{SEPARATOR}' $status")
    return "\n".join(lines) + "\n"


def pattern(shown):
    """Return what the output that a page shows stands for."""
    return "".join(map(_line_pattern, shown.splitlines()))


def _line_pattern(line):
    counted = re.fullmatch(r"\.\.\. (\d+) more \w+", line)
    if counted:
        return rf"(?:[^\n]*\n){{{counted[1]}}}"
    if line == "...":
        return r"(?:[^\n]*\n)*?"
    # Dots that are more than three are pytest's progress.
    parts = re.split(r"(?<!\.)\.\.\.(?!\.)", line)
    return r"[^\n]*".join(map(re.escape, parts)) + r"\n"


def plain(output):
    """Return output without what depends on the length of other words: trailing spaces, rules to the edge."""
    lines = (re.sub(r"([=_-])\1{4,}", r"\1" * 5, line.rstrip()) for line in output.splitlines())
    return "\n".join(lines).strip("\n")


def difference(step, printed):
    """Return how the output of a command differs from what the page shows, line by line where dots allow it."""
    shown = plain(step.output).splitlines()
    found = [
        next(
            (s for s in shown if "..." in s[3:] and re.fullmatch(_line_pattern(s), f"{line}\n")),
            line,
        )
        for line in plain(printed).splitlines()
    ]
    lines = difflib.unified_diff(shown, found, "page", "printed", lineterm="")
    return "\n".join([f"$ {step.text}", *lines])


def renewed(shown, printed):
    """Return the output that a page shows with the lines of today: each stretch between dots as it was printed."""
    lines = plain(printed).splitlines()
    made = []
    at = 0
    for is_dots, stretch in groupby(shown.splitlines(), _is_dots):
        old = list(stretch)
        if is_dots:
            made += old
            continue
        first = 0 if not made else _nearest(old[0], lines, at)
        last = _nearest(old[-1], lines, first)
        while last + 1 < len(lines) and lines[last + 1].startswith(" " * 10):
            last += 1  # the rest of a sentence
        made += [_as_shown(line, old) for line in lines[first : last + 1]]
        at = last + 1
    return "\n".join(made)


def _is_dots(line):
    return line == "..." or re.fullmatch(r"\.\.\. \d+ more \w+", line) is not None


def _nearest(line, lines, start):
    """Return the number of the line, from a start on, that is most like one."""
    likeness = [difflib.SequenceMatcher(None, line, other).ratio() for other in lines[start:]]
    if not likeness:
        return len(lines)
    return start + likeness.index(max(likeness))


def _as_shown(line, old):
    """Return a printed line, or the one of the page that stands for it."""
    for one in old:
        if re.fullmatch(_line_pattern(plain(one)), f"{line}\n"):
            return one
    return line


@pytest.mark.slow
@pytest.mark.parametrize("page", pages())
def test_the_sessions_of_a_page_are_as_shown(page, project, environment):
    found = list(steps((ROOT / page).read_text("utf-8")))
    done = subprocess.run(
        ["bash", "-c", script(found, project)],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
        timeout=600,
    )
    printed = done.stdout.split(SEPARATOR)
    run = [step for step in found if isinstance(step, Command)]
    assert len(printed) == 2 * len(run) + 1, done.stdout
    wrong = []
    for step, output, status in zip(run, printed[::2], printed[1::2], strict=False):
        if step.output:
            if re.fullmatch(pattern(plain(step.output)), plain(output) + "\n"):
                continue
            if os.environ.get("UPDATE_SNAPSHOTS"):
                text = (ROOT / page).read_text("utf-8")
                (ROOT / page).write_text(text.replace(step.output, renewed(step.output, output)))
            else:
                wrong.append(difference(step, output))
        elif status != "0":
            wrong.append(f"$ {step.text}\nexit status {status}\n{output}")
    assert not wrong, "\n\n".join(["", *wrong])


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\nb", "a\nb\n", True),
        ("a", "a\nb\n", False),
        ("in ...s", "in 0.12s\n", True),
        ("in ...s", "in 0.12s and\n", False),
        ("a\n...\nd", "a\nb\nc\nd\n", True),
        ("a\n...\nd", "a\nd\n", True),
        ("...\nd", "a\nb\n", False),
        ("a\n... 2 more cases\nd", "a\nb\nc\nd\n", True),
        ("a\n... 2 more cases\nd", "a\nb\nd\n", False),
        ("....F", "....F\n", True),
        ("....F", ".F\n", False),
        ("===== 1 passed in ...s =====", "=========== 1 passed in 12s =======\n", True),
    ],
)
def test_what_dots_stand_for(shown, printed, same):
    assert bool(re.fullmatch(pattern(plain(shown)), plain(printed) + "\n")) is same
