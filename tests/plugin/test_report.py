"""The page, the summary and the history: what they show is what was recorded, whatever it says."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import unicodedata
from html.parser import HTMLParser
from pathlib import Path

import pytest

from benchgate.cli import main
from benchgate.report import words
from benchgate.wording.figures import p_value
from tests.conftest import Echo

EXPLAINING = """
why = "the answer is " + output["answer"][:20]
if case.case_id == "02":
    return BenchScore(
        passed=False, score=0.25, breakdown={"exact": 0.25, "style": 1.0}, failure_modes=["wrong"],
        safety_penalty=0.0, explanation=why, evidence={"exact": "2 of 8 words", "beyond": "none"},
    )
"""
NONE = "\N{EN DASH}"


class Elements(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found, self.texts = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", "".join(self.texts))

    @property
    def tags(self):
        return {tag for tag, _ in self.found}


def write_both(bench, penalty=0.0):
    """A baseline that passes everywhere beside a candidate that fails 02, there with a penalty."""
    bench.write(
        "registration.py",
        """
        from benchgate import register_task_class
        from .rubric import EchoRubric
        from .system import system, other
        register_task_class("echo", systems={"shout": system, "other": other}, default_system="other")(EchoRubric)
        """,
    )
    with (bench.path / "system.py").open("a") as file:
        file.write(
            "\ndef other(case):\n"
            "    found = system(case)\n"
            "    return {'answer': '?' * 8 if case.case_id == '02' else found['answer'], 'by': 'other'}\n"
        )
    code = EXPLAINING.replace('case.case_id == "02"', 'output["answer"].startswith("?")')
    bench.rubric(code.replace("safety_penalty=0.0", f"safety_penalty={penalty}"))


def run_both(bench, penalty=0.0):
    write_both(bench, penalty)
    bench.engine(baseline="run:shout", policy={"min_cases": 2})


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """The run of :func:`run_both` without a penalty, and its page; tests only read them."""
    bench = Echo(tmp_path_factory.mktemp("compared"))
    run_both(bench)
    return bench, page_of(bench)


@pytest.fixture
def compared_copy(compared, bench):
    """The same in the folder of a bench that a test may change."""
    shutil.copytree(compared[0].root, bench.root, dirs_exist_ok=True)
    return bench


def page_of(bench, *options):
    target = bench.root / "page.html"
    assert main(["report", str(bench.folder()), "--html", str(target), *options]) == 0
    return target.read_text("utf-8")


# What the page says


def test_the_page_shows_the_recorded_figures_and_no_others(compared):
    bench, text = compared
    page = Elements(text)
    record = bench.record()
    figures = bench.read(bench.folder() / "evidence/significance.json")["significance"]
    assert record["decision"]["outcome"].upper() in page.text
    for value in ("mean_delta", "delta_ci_low", "delta_ci_high"):
        assert words.signed(figures[value]) in page.text
    assert p_value(figures["p_value"], figures["alpha"]) in page.text
    assert f"{record['report']['passed_count']} of {record['report']['case_count']}" in page.text
    hidden = {"note_safety_power", "note_unseen_break"}  # a hold promotes nothing
    for remark in record["decision"]["remarks"]:
        if remark["code"] in hidden:
            continue
        assert remark["message"].lower() in page.text.lower()
    for digest in (record["report"]["run_id"], record["report"]["digests"]["scorer"]):
        assert digest in page.text


def test_a_case_opens_to_why_it_scored_as_it_did(compared):
    _, page = compared
    case = page[page.index("Newly failing", page.index("<h2>Cases")) :]
    html_of_case = case[: case.index("<h2>")]
    case = Elements(html_of_case).text
    for text in (
        "the answer is ????????",
        "2 of 8 words",
        "beyond : none",
        "wrong",
        "easy, positive",
    ):
        assert text in case.replace("beyond:", "beyond :"), case
    assert "The answer is not the expected one." in case
    assert "q02" in case, "the input"
    assert '- "answer": "Q02"' in case
    assert '+ "answer": "????????"' in case
    assert re.search(r'- "answer": "Q02"[^\n]*\n[^\n]*\+ "answer"', html_of_case), "lines of a diff"


def test_more_harm_comes_first_and_its_reason_leads_to_it(bench):
    run_both(bench, penalty=1.0)
    page = page_of(bench)
    cases = Elements(page[page.index("<h2>Cases") :]).text
    group = cases[cases.index("More harm 1") : cases.index("Passing 2")]
    assert "fail 02 harm 0.000 → 1.000" in group
    assert "Newly failing" not in cases  # each case is in one group
    link = next(a["href"] for tag, a in Elements(page).found if tag == "a")
    assert link == "#run-1-harm"
    assert f'id="{link[1:]}"' in page
    assert "2 of 3before 3" in Elements(page).text


def test_a_case_that_passes_and_does_harm_does_not_look_good(bench):
    bench.rubric(
        """
        if case.case_id == "02":
            return BenchScore(passed=True, score=1.0, safety_penalty=0.5)
        """
    )
    bench.engine()
    kinds = [attributes.get("class", "") for _, attributes in Elements(page_of(bench)).found]
    states = [kind for kind in kinds if kind.startswith("state")]
    assert sorted(states) == ["state harms", "state ok", "state ok"]


def test_a_pinned_baseline_in_the_same_store_has_the_parts_of_its_score_beside(bench, capsys):
    write_both(bench)
    bench.engine(system="shout", baseline="none")
    bench.pin()
    bench.engine(baseline="auto")
    main(["report", str(bench.folder())])
    assert "parts     exact 1.000 -> 0.750, style 1.000\n" in capsys.readouterr().out
    text = Elements(page_of(bench)).text
    assert re.search(r"Part ?Before ?Now ?exact ?1.000 ?0.750 ?style ?. ?1.000", text)


def test_a_promotion_shows_more_harm_after_what_got_better(tmp_path):
    ids = [f"c{n:02}" for n in range(16)]
    for name, score, harmful in (("old", 0.2, ids[0]), ("new", 0.8, ids[1])):
        rows = [
            {"id": one, "score": score + n / 100, "harm": 0.2 * (one == harmful)}
            for n, one in enumerate(ids)
        ]
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text)
    logs = [str(tmp_path / f"{name}.jsonl") for name in ("old", "new")]
    target = tmp_path / "page.html"
    assert main(["gate", *logs, "--map=harm=harm", f"--html={target}"]) == 0
    text = Elements(target.read_text("utf-8")).text
    assert text.index("Higher scores 15") < text.index("More harm 1 it did more harm")
    assert re.search("more c01 harm 0 -> 0.2 ?less c00 harm 0.2 -> 0", text)


def test_where_no_penalty_rose_nothing_says_more_harm(compared):
    _, page = compared
    assert "More harm" not in page
    assert 'class="penalty"' not in page


def test_a_page_says_so_where_there_is_no_baseline(bench):
    bench.engine()
    text = Elements(page_of(bench)).text
    assert "there is no baseline to compare shout with" in text
    assert "Newly failing" not in text


def test_a_part_of_the_cases_has_a_page_too(bench):
    result = bench.run("-k", "01", "--bench-html=page.html")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["page      *page.html"])
    text = Elements((bench.root / "page.html").read_text("utf-8")).text
    assert "NOT JUDGED" in text
    assert "only a part of the cases was selected" in text


def test_a_run_from_another_machine_gives_the_same_page(bench, tmp_path):
    run_both(bench)
    here = page_of(bench)
    there = tmp_path / "sent"
    shutil.copytree(bench.folder(), there)
    shutil.rmtree(bench.path)
    target = tmp_path / "there.html"
    assert main(["report", str(there / "record.json"), "--html", str(target)]) == 0

    def but_history(page):
        return re.sub(
            r'<details class="fold">\s*<summary><h2>(History|What each case is worth|Provenance)</h2>'
            r'.*?(?=<details class="fold">|</main>)',
            "",
            page,
            flags=re.DOTALL,
        )

    assert but_history(target.read_text("utf-8")) == but_history(here)
    assert "no history is shown" in target.read_text("utf-8")


@pytest.mark.parametrize("name", ["evidence/significance.json", "cases/02.json"])
def test_what_was_changed_since_is_not_shown(compared_copy, name):
    bench = compared_copy
    path = bench.folder() / name
    path.write_text(path.read_text().replace("0", "7"))
    text = Elements(page_of(bench)).text
    assert "is not the file that was recorded" in text
    if name.startswith("evidence"):
        assert "between -" not in text, "the interval of the difference"


def test_a_proof_of_plain_vectors_has_a_page(bench, tmp_path, capsys):
    for name, values in (("a", [0.1] * 9 + [0.4] * 9), ("b", [0.8] * 9 + [0.6] * 9)):
        (tmp_path / f"{name}.json").write_text(
            json.dumps({f"c{n}": v for n, v in enumerate(values)})
        )
    proof = [
        "proof",
        "--baseline-samples",
        str(tmp_path / "a.json"),
        "--trained-samples",
        str(tmp_path / "b.json"),
    ]
    assert main([*proof, "--run-id", "r1", "--out", str(tmp_path / "proof.json")]) == 0
    capsys.readouterr()
    target = tmp_path / "page.html"
    assert main(["report", str(tmp_path / "proof.json"), "--html", str(target)]) == 0
    text = Elements(target.read_text("utf-8")).text
    assert "PROMOTE" in text
    assert "c17" in text
    assert "r1" in text
    assert main(["report", str(tmp_path / "proof.json")]) == 0
    assert "PROMOTE" in capsys.readouterr().out


def test_the_copy_of_the_evidence_leads_to_the_record(compared, tmp_path):
    bench, page = compared
    target = tmp_path / "copy.html"
    proof = bench.out / "evidence/echo/proof.json"
    assert main(["report", str(proof), "--html", str(target)]) == 0
    assert target.read_text("utf-8") == page


# Hostile text and size


@pytest.fixture(scope="module")
def hostile_page(hostile_report):
    return page_of(hostile_report)


def test_no_text_becomes_markup_or_hides(hostile_page, hostile_text):
    page = hostile_page
    found = Elements(page)
    assert found.tags.isdisjoint(
        {"script", "img", "iframe", "link", "object", "embed", "form", "base"}
    )
    for tag, attributes in found.found:
        assert not [name for name in attributes if name.startswith("on") or name == "style"], tag
        assert attributes.get("href", "#").startswith("#")
        assert "src" not in attributes
    assert {unicodedata.category(c) for c in page} & {"Cf", "Cc", "Cs"} == {"Cc"}
    assert {c for c in page if unicodedata.category(c) == "Cc"} == {"\n"}
    assert hostile_text.replace("\u202e", r"\u202e").replace("\u2066", r"\u2066") in found.text
    assert "{{ 7*7 }}" in found.text
    assert len(page.encode()) < 300_000


def test_the_page_asks_for_nothing_and_may_run_nothing(hostile_page):
    page = hostile_page
    policy = next(
        a["content"]
        for t, a in Elements(page).found
        if a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert not re.search(r"""(?:src|href|url)\s*[=(]\s*["']?(?:https?:|//|data:)""", page)


def test_no_text_becomes_markdown_or_calls_anybody(hostile_report, capsys):
    capsys.readouterr()
    assert main(["report", str(hostile_report.folder())]) == 0
    text = capsys.readouterr().out
    assert "<script" not in text
    assert "<img" not in text
    assert "\u202e" not in text
    outside = re.sub(r"<code>.*?</code>|`[^`\n]*`|<pre>[^<]*</pre>", "", text)
    assert "@all" not in outside
    assert "#1" not in outside
    rows = [line for line in text.splitlines() if line.startswith("|")]
    heads = [len(row.split("|")) for row in rows if set(row) <= set("|-: ")]
    assert {len(row.split("|")) for row in rows} == set(heads), "a cell has a bar of its own"


def wide_page(bench, number):
    """Return the page of a run of as many cases, whose outputs are many and long."""
    for n in range(4, number + 1):
        bench.case(f"case-with-a-name-{n:04}", answer="no" if n % 2 else None)
        bench.write(f"cases/case-with-a-name-{n:04}/input/question.txt", '"<&>"' * 500)
    bench.system('return {"answer": "<>&" * 20_000, "more": list(range(2000))}')
    bench.engine()
    page = page_of(bench)
    assert page.count('<details class="case"') == number
    return page


def test_a_page_shows_the_outputs_of_fifty_cases(bench):
    page = wide_page(bench, 52)
    assert page.count("left out for the size of this page; it is in cases/") == 2
    assert "2 rows more: <code>benchgate runs --cases</code>" in page
    assert len(page.encode()) < 2_200_000


@pytest.mark.slow
def test_a_page_of_a_thousand_cases_is_small(bench):
    assert len(wide_page(bench, 1000).encode()) < 3_000_000


# Options


def test_the_page_of_a_session_has_all_classes(bench, pytester):
    shutil.copytree(bench.path, bench.root / "bench/second")
    for path in (bench.root / "bench/second").rglob("*"):
        if path.suffix in {".toml", ".py"}:
            path.write_text(path.read_text().replace('"echo"', '"second"'))
    result = bench.pytest("--bench=all", "--bench-html=page.html")
    assert result.ret == 0
    text = Elements((bench.root / "page.html").read_text("utf-8")).text
    assert "2 results" in text
    assert text.count("Provenance") == 2


@pytest.mark.parametrize(("value", "why"), [("nowhere/page.html", "no folder"), (".", "no folder")])
def test_a_page_that_cannot_be_written_is_refused_at_the_start(bench, value, why):
    result = bench.run(f"--bench-html={value}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --bench-html: *{why}*"])
    assert not bench.out.exists()


def test_a_page_without_jinja_is_refused_at_the_start(bench, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name == "jinja2" else find(name, *a)
    )
    result = bench.run("--bench-html=page.html")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --bench-html: *pip install jinja2"])


def test_a_page_that_cannot_be_written_at_the_end_fails_the_session(bench):
    bench.system("import shutil; shutil.rmtree('pages', ignore_errors=True)")
    (bench.root / "pages").mkdir()
    result = bench.run("--bench-html=pages/page.html", "--bench-baseline=none")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["FAILED the page is not written: *"])
    assert bench.record()["report"]["passed_count"] == 3


def test_what_the_page_stumbles_over_loses_nothing(bench, monkeypatch):
    def stumble(*_):
        raise RuntimeError("stumbled")

    monkeypatch.setattr("benchgate.report.html.page", stumble)
    monkeypatch.setattr("benchgate.report.markdown.markdown", stumble)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(bench.root / "summary.md"))
    result = bench.run("--bench-html=page.html", "--bench-baseline=none")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "warning   GITHUB_STEP_SUMMARY is not written: RuntimeError: stumbled",
            "FAILED the page is not written: RuntimeError: stumbled",
        ]
    )
    assert bench.record()["report"]["passed_count"] == 3


def test_a_job_of_github_gets_the_summary(bench, monkeypatch):
    target = bench.root / "summary.md"
    target.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "")
    assert main(["run", "--task-class=echo", "--out=out"]) == 0
    assert target.read_text() == "before\n"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(target))
    bench.run()
    text = target.read_text("utf-8")
    assert text.startswith("before\n<!-- benchgate: echo -->\n")
    assert "HOLD" in text
    assert main(["run", "--task-class=echo", "--out=out"]) == 0
    assert target.read_text("utf-8").count("<!-- benchgate: echo -->") == 2


def test_a_summary_that_cannot_be_written_fails_nothing(bench, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(bench.root / "no/summary.md"))
    result = bench.run()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["warning   GITHUB_STEP_SUMMARY is not written: *"])


def test_the_other_door_writes_the_same_page(bench, monkeypatch, capsys):
    monkeypatch.chdir(bench.root)
    assert main(["run", "--task-class=echo", "--html=page.html"]) == 2
    assert "needs --out: the page is made of the record" in capsys.readouterr().err
    assert main(["run", "--task-class=echo", "--html=page.html", f"--out={bench.out}"]) == 0
    assert (bench.root / "page.html").read_text("utf-8") == page_of(bench)


@pytest.mark.parametrize("given", ["nothing", "empty", "case.toml", "cases/01.json"])
def test_what_is_no_run_is_refused(bench, given, capsys):
    bench.engine()
    (bench.root / "empty").mkdir()
    path = {
        "case.toml": bench.path / "cases/01/case.toml",
        "cases/01.json": bench.folder() / "cases/01.json",
    }
    capsys.readouterr()
    assert main(["report", str(path.get(given, bench.root / given))]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error


# The history


def test_the_history_counts_looks_and_knows_what_became_the_baseline(bench, capsys):
    bench.engine()
    bench.pin()
    bench.engine(baseline="auto")
    bench.system('if case.case_id == "02":\n    return {"answer": "no"}')
    for _ in range(2):  # the same results are no further look
        bench.engine(baseline="auto")
    capsys.readouterr()
    assert main(["runs", "--scores", "--task-class=echo", f"--out={bench.out}", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["seq"] for row in rows] == [1, 2, 3, 4]
    assert [row["look"] for row in rows] == [None, 1, 2, 2]
    assert rows[0]["pinned"]
    record = bench.record()
    assert rows[3]["head"] == f"4:{bench.head()['sha256']}"
    assert rows[3]["mean_score"] == record["report"]["mean_score"]
    assert main(["runs", "--scores", "--task-class=echo", f"--out={bench.out}"]) == 0
    table = capsys.readouterr().out
    assert "became the baseline" in table
    page = Elements(page_of(bench)).text
    assert page.count("became the baseline") >= 1
    assert "ook no. 2 at this baseline" in page
    assert main(["report", str(bench.folder())]) == 0
    assert "look no. 2 at this baseline" in capsys.readouterr().out


def test_what_each_case_is_worth_is_folded_on_the_page(bench, capsys):
    bench.case("00")
    for wrong in ((), ("00",), ("00",)):
        bench.system(f"""
            if case.case_id in {("02", *wrong)} or (case.case_id, case.trial) == ("03", 1):
                return {{"answer": "no"}}
        """)
        bench.engine(trials=3)
    capsys.readouterr()
    assert main(["runs", "--cases", "--json", f"--out={bench.out}"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["worth"] for row in rows] == [None, "saturated", "dead", None]
    rows.append(rows.pop(0))  # of which nothing is said
    page = page_of(bench)
    (fold,) = re.findall(
        r"<details class=\"fold\">\s*<summary><h2>What each case is worth.*?</details>",
        page,
        re.DOTALL,
    )
    cells = re.findall(r"<td[^>]*>(?:<bdi>)?([^<]*)", fold)
    assert [cells[at : at + 5] for at in range(0, len(cells), 5)] == [
        [row["case"], row["worth"] or NONE, "shout", f"{row['passed']} of 9", row["flaky"] or NONE]
        for row in rows
    ]
    assert rows[2]["flaky"] == "2 of 3"


def test_a_floor_on_the_page(bench):
    bench.rubric("return BenchScore(passed=False, score=0.0, safety_penalty=0.0)")
    target = bench.root / "page.html"
    result = bench.run("--bench-system=floor:input", f"--bench-html={target}")
    assert result.ret == 0
    text = Elements(target.read_text("utf-8")).text
    assert "a floor is compared with nothing" in text
    assert "What each case is worth" not in text


def test_a_class_without_runs_has_no_history(bench, capsys):
    assert main(["runs", "--scores", "--task-class=echo", f"--out={bench.out}"]) == 1
    bench.engine()
    capsys.readouterr()
    assert main(["runs", "--scores", "--task-class=other", f"--out={bench.out}"]) == 1
    assert "known: echo" in capsys.readouterr().err


# Explanations


def test_a_failure_says_why(bench):
    write_both(bench)
    result = bench.run("--bench-baseline=run:shout", "--bench-policy=min_cases=2")
    result.stdout.fnmatch_lines(
        [
            "not passed, score 0.250: wrong",
            "  the answer is ????????",
            "  exact: 0.25, 2 of 8 words",
            "  beyond: none",
        ]
    )


def test_the_id_of_a_run_does_not_depend_on_explanations(bench):
    bench.engine()
    before = bench.record()
    bench.rubric("""
        right = output["answer"] == (case.expected_path / "answer.txt").read_text()
        return BenchScore(passed=right, score=float(right), breakdown={"exact": float(right)}, cost_usd=0.25,
                          safety_penalty=0.0, explanation="because", evidence={"exact": "e"})
    """)
    bench.engine()
    after = bench.record()
    assert after["report"]["run_id"] == before["report"]["run_id"]
    assert after["report"]["per_case"][0]["score"]["explanation"] == "because"
    assert "explanation" not in before["report"]["per_case"][0]["score"]
    assert main(["verify", str(bench.out)]) == 0


def test_a_record_describes_its_cases_and_failure_modes(bench):
    bench.write("cases/01/input/more/data.bin", "")
    (bench.path / "cases/01/input/more/data.bin").write_bytes(b"\x00\xff")
    bench.write("cases/02/input/question.txt", "é" * 3000)
    bench.case("03", tags='["new"]', difficulty='"hard"')
    bench.engine()
    record = bench.record()
    assert record["meanings"] == {"wrong": "The answer is not the expected one."}
    assert record["about_cases"]["01"]["input"] == {"question.txt": "q01"}
    assert record["about_cases"]["02"]["input"] == {"question.txt": "é" * 1024}
    assert record["about_cases"]["03"] == {
        "disposition": "positive",
        "difficulty": "hard",
        "tags": ["new"],
        "input": {"question.txt": "q03"},
    }


# Markdown as a reader sees it


def snapshot(name, text):
    """Compare a text with its file in ``tests/data/summary``; ``UPDATE_SNAPSHOTS=1`` writes it anew."""
    shown = re.sub(r"(?<==\d:)[0-9a-f]{64}", "…", text)
    path = Path(__file__).parents[1] / "data" / "summary" / f"{name}.md"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown, "utf-8")
    assert shown == path.read_text("utf-8")


@pytest.mark.parametrize("name", ["compared", "alone", "part", "hostile"])
def test_the_summary_reads_as_it_did(bench, request, capsys, name):
    if name == "compared":
        bench, _ = request.getfixturevalue("compared")
    elif name == "hostile":
        bench = request.getfixturevalue("hostile_report")
    else:
        bench.engine(case_filter="01" if name == "part" else None)
    capsys.readouterr()
    folder = bench.out / "last-selected/echo" if name == "part" else bench.folder()
    assert main(["report", str(folder)]) == 0
    snapshot(name, capsys.readouterr().out)
