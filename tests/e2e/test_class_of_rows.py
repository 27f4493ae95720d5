"""``benchgate new class NAME --cases FILE``: from rows to a verdict by the printed commands, and more rows later."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchgate.cli import main, next_commands

SCRIPTS = Path(sys.executable).parent
MAP = "--map=case=meta.id,input=ticket,expected=label"
AGENT = """
import asyncio

async def ask(ticket, skill):
    await asyncio.sleep(0)
    right = int(ticket["body"]) % 10 < skill
    return {"team": "billing" if right else "login", "urgent": True}

async def current(ticket):
    return await ask(ticket, 5)

async def candidate(ticket):
    return await ask(ticket, 9)
"""


def tickets(numbers):
    return [
        {
            "meta": {"id": f"T-{n}"},
            "ticket": {"subject": "Köln", "body": str(n)},
            "label": {"team": "billing", "urgent": True},
        }
        for n in numbers
    ]


def write(rows, name="rows.jsonl"):
    Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.fixture
def new_class(pytester, capsys):
    """Run the command in an empty folder; return status, stdout and stderr."""

    def run(*arguments):
        capsys.readouterr()
        status = main(["new", "class", "tickets", *arguments])
        return status, *capsys.readouterr()

    return run


def call_agent():
    """Do what the command asks for: have both systems call an agent."""
    Path("agent.py").write_text(AGENT)
    Path("pytest.ini").write_text("[pytest]\npythonpath = .\n")
    path = Path("bench/tickets/systems/agent.py")
    text = path.read_text().replace("import json", "import json\n\nimport agent")
    for name in ("current", "candidate"):
        text = text.replace(f"def {name}", f"async def {name}")
        call = f"return await agent.{name}(question(case))"
        text = text.replace("raise NotImplementedError(WHAT_TO_DO)", call, 1)
    path.write_text(text)


def entries():
    return sorted(path for path in Path().rglob("*") if path.is_file())


@pytest.mark.slow
def test_the_printed_commands_lead_to_a_verdict(new_class, pytester):
    (pytester.path / "pytest.ini").unlink(missing_ok=True)
    write(tickets(range(1000, 1040)))
    status, out, _ = new_class("--cases=rows.jsonl", MAP)
    assert status == 0
    assert out.startswith(
        "bench/tickets: 40 cases from rows.jsonl\n"
        "score     the share of an answer's fields that are right; more is better\n"
        "floor     floor:empty scores 0"
    )
    assert 'it returns {"team": ..., "urgent": ...}' in out
    call_agent()
    commands = [line for line in out.splitlines()[4:] if line and not line.startswith("#")]
    environment = {**os.environ, "PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"}
    done = [
        subprocess.run(
            ["bash", "-c", command], env=environment, capture_output=True, text=True, check=False
        )
        for command in commands
    ]
    assert [one.returncode for one in done] == [0, 0, 0, 0], [one.stderr for one in done]
    assert "PROMOTE   `candidate` may replace `current`: it is better" in done[3].stdout
    assert "0.750 -> 0.950" in done[3].stdout
    assert main(["check"]) == 0


def test_the_class_is_valid_and_its_tests_pass(new_class, pytester, capsys):
    rows = tickets(range(3))
    rows[1]["label"] |= {"third": None}
    rows[2]["label"] = ["a", "list"]
    write(rows)
    assert new_class("--cases=rows.jsonl", MAP)[0] == 0
    assert main(["check"]) == 0
    assert "tickets: 3 cases, small bench, stays at bronze, valid" in capsys.readouterr().out
    pytester.runpytest("-q", "bench/tickets/tests").assert_outcomes(passed=3)


def test_a_system_that_calls_nothing_yet_is_no_baseline_to_beat(new_class, capsys):
    write(tickets(range(12)))
    new_class("--cases=rows.jsonl", MAP)
    run = ["run", "--task-class=tickets", "--out=.benchgate"]
    main([*run, "--system=current", "--baseline=none"])
    assert main(["pin", "1", "--yes"]) == 1
    assert "cannot be pinned: every trial ended in an error" in capsys.readouterr().err


def test_faulty_rows_are_named_and_nothing_is_written(new_class):
    rows = tickets([1, 2, 1])
    del rows[1]["meta"]["id"]
    write(rows)
    before = entries()
    status, out, err = new_class("--cases=rows.jsonl", MAP)
    assert (status, out) == (2, "")
    assert err.splitlines() == [
        "rows.jsonl:2: has no id (meta.id)",
        "rows.jsonl:3: id 'T-1' is that of line 1 too",
        "nothing is written: mend these rows or leave them out, then type it again",
    ]
    assert entries() == before


def test_later_the_new_rows_are_added_and_the_baseline_is_said_to_lack_them(new_class, capsys):
    write(tickets(range(12)))
    new_class("--cases=rows.jsonl", MAP)
    call_agent()
    main(["run", "--task-class=tickets", "--out=.benchgate", "--system=current", "--baseline=none"])
    main(["pin", "1", "--yes"])
    rows = tickets(range(14))
    rows[3]["label"]["team"] = "login"
    write(rows)
    status, out, err = new_class("--cases=rows.jsonl", MAP)
    assert status == 1
    assert "changed   line 4: expected of T-3; not written: bench/tickets/cases/t-3\n" in err
    assert out.splitlines() == [
        "bench/tickets: 2 new cases from rows.jsonl, 11 there already",
        "floor     floor:empty scores 0.000 over 14 positive cases and passes none of them",
        "floor     floor:input scores 0.000 over 14 positive cases and passes none of them",
        "baseline  lacks 2 cases, which no comparison counts: t-12, t-13",
        "next      benchgate pin --extend --task-class tickets --yes: runs current on these alone, and pins that",
    ]
    assert main(["pin", "--extend", "--task-class=tickets", "--yes"]) == 0
    write(tickets(range(14)))
    assert new_class("--cases=rows.jsonl", MAP)[:2] == (
        0,
        "bench/tickets: 0 new cases from rows.jsonl, 14 there already\nbaseline  has all cases\n",
    )


def test_where_all_rows_changed_a_few_are_named_and_a_way_out(new_class):
    rows = tickets(range(12))
    write(rows)
    new_class("--cases=rows.jsonl", MAP)
    _, _, err = new_class(
        "--cases=rows.jsonl", "--map=case=meta.id,input=ticket,expected=label.team"
    )
    assert err.splitlines() == [
        "changed   line 1: expected of T-0; not written: bench/tickets/cases/t-0",
        "changed   line 2: expected of T-1; not written: bench/tickets/cases/t-1",
        "changed   line 3: expected of T-2; not written: bench/tickets/cases/t-2",
        "          ... 9 more",
        "          no row is as its case: was --map the one in bench/tickets/README.md?",
        (
            "          to take such a row over, remove the folder of its case and type this again; then run and pin "
            "the baseline again, for its result there is of the old row"
        ),
    ]


def test_in_a_clone_the_baseline_is_not_extended_but_made_again(new_class, capsys):
    write(tickets(range(12)))
    new_class("--cases=rows.jsonl", MAP)
    call_agent()
    main(["run", "--task-class=tickets", "--out=.benchgate", "--system=current", "--baseline=none"])
    main(["pin", "1", "--yes"])
    shutil.rmtree(".benchgate/runs")
    write(tickets(range(13)))
    _, out, _ = new_class("--cases=rows.jsonl", MAP)
    why = (
        "bench/tickets/baseline.json: its run 1 is not in .benchgate, and a clone has no runs: give --out DIR with the "
        "pinned run, or run all cases, pytest -q --bench=tickets --bench-system=current --bench-baseline=none, and pin "
        "that run by its number"
    )
    assert out.splitlines()[-1] == f"next      {why}"
    assert main(["pin", "--extend", "--task-class=tickets", "--yes"]) == 2
    assert capsys.readouterr().err == f"{why}\n"


@pytest.mark.parametrize(
    ("lacking", "told"),
    [
        ((), ""),
        (
            ("xdist", "jinja2"),
            (
                "# for -n4 (cases in parallel) and --bench-html=page.html (the result as a page): pip install "
                "pytest-xdist jinja2"
            ),
        ),
        (("jinja2",), "# for --bench-html=page.html (the result as a page): pip install jinja2"),
    ],
)
def test_what_is_not_installed_is_named_with_the_commands(new_class, monkeypatch, lacking, told):
    monkeypatch.setattr(next_commands, "find_spec", lambda name: None if name in lacking else name)
    write(tickets(range(12)))
    _, out, _ = new_class("--cases=rows.jsonl", MAP)
    assert "".join(line for line in out.splitlines() if "pip install" in line) == told


def test_a_map_that_takes_the_answer_into_the_input_is_noticed(new_class):
    rows = [{"id": row["meta"]["id"], "all": row} for row in tickets(range(12))]
    for number, row in enumerate(rows):
        row["all"]["label"]["team"] = f"team {number}"
    write(rows)
    _, out, _ = new_class("--cases=rows.jsonl", "--map=case=id,input=all,expected=all.label")
    assert "leaks     12 inputs may have the answer: benchgate check tickets names each" in out


@pytest.mark.parametrize("name", ["../rows", "Tickets", "all"])
def test_a_name_that_no_class_can_have(pytester, capsys, name):
    write(tickets(range(2)))
    assert main(["new", "class", name, "--cases=rows.jsonl", MAP]) == 2
    assert "names no class" in capsys.readouterr().err
    assert entries() == [Path("rows.jsonl")]


def test_a_class_that_is_not_of_rows_is_left_alone(new_class):
    new_class()
    before = entries()
    write(tickets(range(2)))
    status, out, err = new_class("--cases=rows.jsonl", MAP)
    assert (status, out) == (1, "")
    assert err == "bench/tickets: exists already, and no case of it is made from a row\n"
    assert entries() == [*before, Path("rows.jsonl")]


@pytest.mark.parametrize("option", ["--map=case=id", "--rows=cases", "--where=a=b"])
def test_how_a_table_is_read_needs_one(new_class, option):
    status, out, err = new_class(option)
    assert (status, out) == (2, "")
    assert err.endswith("says how a table is read: give it with --cases FILE\n")


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.1, 0.5, 1, 1.5, 2, 3])
def test_a_process_that_is_killed_leaves_the_whole_class_or_none(pytester, seconds):
    write(tickets(range(3000)))
    command = [sys.executable, "-m", "benchgate", "new", "class", "tickets", "--cases=rows.jsonl"]
    process = subprocess.Popen(
        [*command, MAP], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.wait()
    made = Path("bench/tickets")
    if made.exists():
        assert len(list(made.glob("cases/*/expected/expected.json"))) == 3000
        assert main(["check", "tickets"]) == 0
