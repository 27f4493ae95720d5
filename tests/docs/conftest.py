"""The projects that the console sessions of the docs are run in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from textwrap import dedent

import pytest

from benchgate.cli import main

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(sys.executable).parent

CASE = """\
[case]
case_id = "{case_id}"
task_class = "summaries"
disposition = "positive"
difficulty = "easy"
source = "curated"
added_at = {now}
last_validated_at = {now}
"""
NOW = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
"""Cases that nobody has validated for long make a run say so."""
SUMMARIES = {
    "pytest.ini": "[pytest]\n",
    "agents/__init__.py": "",
    "agents/summary.py": """
        def summarize(case):
            report = (case.input_path / "report.txt").read_text()
            return {"summary": report.splitlines()[0]}
        """,
    "bench/summaries/README.md": "# Summaries of reports\n",
    "bench/summaries/failure_modes.toml": """
        [failure_modes.words_missing]
        severity = "warn"
        description = "The summary leaves out what matters."
        """,
    "bench/summaries/gate.toml": 'test = "auto"\n',
    "bench/summaries/rubric.py": """
        from benchgate import BenchScore


        class SummaryRubric:
            def score(self, case, harness_output, /):
                wanted = (case.expected_path / "words.txt").read_text().split()
                share = sum(word in harness_output["summary"] for word in wanted) / len(wanted)
                return BenchScore(
                    passed=share > 0.05,
                    score=share,
                    failure_modes=[] if share > 0.05 else ["words_missing"],
                    safety_penalty=0.0,
                )
        """,
    "bench/summaries/registration.py": """
        from benchgate import register_task_class

        from .rubric import SummaryRubric


        def lines(case, number):
            return (case.input_path / "report.txt").read_text().splitlines()[:number]


        def title(case):
            return {"summary": lines(case, 1)[0].split()[0]}


        def first_line(case):
            return {"summary": lines(case, 1)[0]}


        def agent(case):
            return {"summary": " ".join(lines(case, 2))}


        @register_task_class(
            "summaries",
            systems={"title": title, "first-line": first_line, "agent": agent},
            default_system="agent",
        )
        class Summaries(SummaryRubric):
            '''One sentence for one report.'''
        """,
    "bench/summaries/tests/test_rubric.py": """
        from _benchgate_bench.summaries.rubric import SummaryRubric


        def test_rubric():
            assert SummaryRubric
        """,
}

TESTS_OF_AN_AGENT = {
    "pytest.ini": "[pytest]\npythonpath = .\n",
    "shop_agent.py": """
        import os
        import random
        from pathlib import Path

        AGENT = os.environ["AGENT"]
        RUN = len(list(Path(AGENT).glob("*.xml")))


        def answer(message):
            count = int(message.split()[1])
            right = random.Random(f"{AGENT} {RUN} {message}").random() < {"old": 0.5, "new": 0.75}[AGENT]
            return {"count": count if right else count + 1}
        """,
    "tests/agent/test_orders.py": """
        import pytest

        from shop_agent import answer


        @pytest.mark.parametrize("count", range(1, 31))
        def test_count(count):
            assert answer(f"send {count} mugs")["count"] == count
        """,
}
CHANCE = """
    import random


    def summary(case, lines):
        report = (case.input_path / "report.txt").read_text().splitlines()
        return {"summary": " ".join(report[: random.Random(case.seed).choice(lines)])}


    def old(case):
        return summary(case, [1, 1, 2])


    def new(case):
        return summary(case, [1, 2, 2, 3])
    """


def case_toml(case_id: str) -> str:
    return CASE.format(case_id=case_id, now=NOW)


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(dedent(text).lstrip(), encoding="utf-8")


def run(root: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "pytest", "--bench=summaries", "-p", "no:randomly", *arguments]
    subprocess.run(command, cwd=root, check=True, capture_output=True)


def empty(root: Path) -> None:
    """Prepare nothing: the page says everything."""


def repository(name: str, root: Path) -> None:
    """Copy of this repository what a shipped bench needs, and make the environment that the README makes."""
    for path in ("pyproject.toml", "docs/trust-tiers.toml"):
        write(root, path, (ROOT / path).read_text("utf-8"))
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "bench" / name, root / "bench" / name, symlinks=True, ignore=ignored)
    (root / "tests").mkdir()  # the testpaths in pyproject.toml
    (root / ".venv").mkdir()
    (root / ".venv/bin").symlink_to(SCRIPTS)


def summaries(root: Path) -> None:
    """Make a class ``summaries``, with a baseline that every other system beats."""
    for path, text in SUMMARIES.items():
        write(root, path, text)
    for number in range(1, 11):
        folder = f"bench/summaries/cases/{number:03}-report"
        lengths = (3 + number % 3, 3 + number * number % 4, 5)
        lines = [
            " ".join(f"w{line}x{n}." for n in range(size)) for line, size in enumerate(lengths)
        ]
        write(root, f"{folder}/case.toml", case_toml(f"{number:03}-report"))
        write(root, f"{folder}/input/report.txt", "\n".join(lines) + "\n")
        write(root, f"{folder}/expected/words.txt", "\n".join(" ".join(lines).split()))
    run(root, "--bench-system=title", "--bench-baseline=none", "--bench-out=out")
    assert (
        main(["pin", "1", f"--out={root / 'out'}", f"--bench-root={root / 'bench'}", "--yes"]) == 0
    )
    shutil.rmtree(root / "out")


def in_use(root: Path) -> None:
    """Make the class with three runs, each of a better system; the second one became the baseline."""
    summaries(root)
    run(root, "--bench-system=title", "--bench-baseline=none")
    run(root, "--bench-system=first-line")
    places = [f"--out={root / '.benchgate'}", f"--bench-root={root / 'bench'}"]
    assert main(["pin", "2", *places, "--yes"]) == 0
    run(root)


def example(name: str, root: Path) -> None:
    """Copy an example as if it were validated today."""
    pytest.importorskip("openai")
    shutil.copytree(ROOT / "docs/examples" / name, root, dirs_exist_ok=True)
    for path in root.glob("bench/*/cases/*/case.toml"):
        dated = re.sub(
            r"(?m)^last_validated_at = .*$", f"last_validated_at = {NOW}", path.read_text()
        )
        path.write_text(dated)


def logs(root: Path) -> None:
    """Copy the logs that the page gates."""
    shutil.copytree(ROOT / "docs/examples/logs", root / "logs")


def tests_of_an_agent(root: Path) -> None:
    """Make 30 tests of an agent that answers differently in each run, and in the same way whenever the page is run."""
    for path, text in TESTS_OF_AN_AGENT.items():
        write(root, path, text)


def varying(root: Path) -> None:
    """Make the class ``summaries`` with two agents that answer differently in each trial, and no baseline."""
    summaries(root)
    for path in root.glob("bench/summaries/baseline*.json"):
        path.unlink()
    rubric = root / "bench/summaries/rubric.py"
    rubric.write_text(rubric.read_text().replace("share > 0.05", "share > 0.5"))
    write(root, "agents/chance.py", CHANCE)


def search(root: Path) -> None:
    """Copy the loops that the page runs."""
    shutil.copytree(ROOT / "docs/examples/search", root, dirs_exist_ok=True)


PROJECTS = {
    "README.md": partial(repository, "vuln-remediation"),
    "docs/tutorial.md": empty,
    "docs/how-to/agents-that-vary.md": varying,
    "docs/how-to/bring-your-own-bench.md": summaries,
    "docs/how-to/bring-your-own-system.md": summaries,
    "docs/how-to/ci.md": summaries,
    "docs/how-to/from-pytest.md": tests_of_an_agent,
    "docs/how-to/gate-an-llm-agent.md": partial(example, "llm-agent"),
    "docs/how-to/gate-an-rl-checkpoint.md": partial(repository, "gridworld-policy"),
    "docs/how-to/gate-existing-logs.md": logs,
    "docs/how-to/lower-and-several.md": empty,
    "docs/how-to/plan-a-run.md": summaries,
    "docs/how-to/run-the-baseline-too.md": summaries,
    "docs/how-to/search-in-a-loop.md": search,
    "docs/how-to/gate-plain-vectors.md": empty,
    "docs/reference/daily.md": in_use,
}
"""What each page with console sessions starts from."""


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """Make what pages start from once: several start from the same."""

    @cache
    def prepare(begin):
        root = tmp_path_factory.mktemp("prepared") / "shop"
        root.mkdir()
        begin(root)
        return root

    return prepare


@pytest.fixture
def project(page, prepared, tmp_path):
    """The folder that a page's commands are run in."""
    assert page in PROJECTS, f"{page} has console sessions: PROJECTS says what they start from"
    root = tmp_path / "shop"
    shutil.copytree(prepared(PROJECTS[page]), root, symlinks=True)
    yield root
    if (root / "server.url").exists():  # its page ended early
        run_server = [sys.executable, str(root / "server.py"), "stop"]
        subprocess.run(run_server, check=True, capture_output=True)


@pytest.fixture
def environment():
    """What commands see: a terminal of 80 columns, no other order than the given one, and no CI service."""
    removed = {
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "CI",
        "BUILD_NUMBER",
        "GITHUB_ACTIONS",
        "FORCE_COLOR",
        "PY_COLORS",
    }
    return {
        **{name: value for name, value in os.environ.items() if name not in removed},
        "PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "80",
        "PYTEST_ADDOPTS": "-p no:randomly",
        # A file that is rewritten within a second would run from its old bytecode.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
