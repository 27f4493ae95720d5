"""What a session says about tiers, and where it prints the head of its chain."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest
import tomli

from benchgate.cli import main


def tiers(bench, text="") -> None:
    path = bench.root / "docs" / "trust-tiers.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def ten(bench) -> None:
    for number in range(4, 11):
        bench.case(f"{number:02}")


def improved(bench, kept) -> None:
    """Make ten cases that the system passes and the pinned baseline does not."""
    ten(bench)
    bench.rubric("""
        if harm := output.get("harm"):
            return BenchScore(passed=True, score=1.0, safety_penalty=harm)
    """)
    bench.system("return {'answer': ''}")
    bench.pin_once(kept)
    bench.system()


def promotion(bench):
    return bench.read("evidence/echo/promotion.json")


def test_without_a_file_of_tiers_nothing_is_said_and_nothing_evaluated(bench):
    result = bench.run()
    result.stdout.no_fnmatch_line("tier *")
    assert bench.record()["verdict"] == promotion(bench)["verdict"] == "not_evaluated"
    assert not (bench.out / "evidence/echo/promotion.toml").exists()


@pytest.mark.parametrize("workers", [(), pytest.param(("-n2",), marks=pytest.mark.slow)])
def test_ten_of_ten_are_enough_for_silver_and_a_person_merges_the_lines(bench, kept, workers):
    tiers(bench)
    improved(bench, kept)
    result = bench.run("-v", *workers, apart=bool(workers))
    line = "tier      bronze; evidence suffices for silver: a person promotes, see promotion.toml"
    result.stdout.fnmatch_lines([line])
    verdict = bench.record()["verdict"]
    assert verdict == promotion(bench)["verdict"]
    assert (verdict["target_tier"], verdict["sufficient"]) == ("silver", True)
    assert verdict["requires_human_approval"] is True
    lines = (bench.out / "evidence/echo/promotion.toml").read_text()
    assert tomli.loads(lines) == {"current": {"echo": "silver"}}
    assert f"record 1 of echo, run {bench.record()['report']['run_id']}" in lines


@pytest.mark.parametrize("outcome", ["reject", "hold"])
def test_only_a_promoted_run_invites_to_promote_its_class(bench, kept, capsys, outcome):
    tiers(bench)
    improved(bench, kept)
    bench.system('return {"harm": 9.0}' if outcome == "reject" else "")
    # hold: a first run, which is compared with nothing
    result = bench.run("-v", *(("--bench-baseline=none",) if outcome == "hold" else ()))
    result.stdout.fnmatch_lines(["tier      bronze"])
    result.stdout.no_fnmatch_line("*silver*")
    told = promotion(bench)
    assert (told["verdict"]["sufficient"], told["decision"]["outcome"]) == (True, outcome)
    assert not (bench.out / "evidence/echo/promotion.toml").exists()
    capsys.readouterr()
    assert main(["verify", str(bench.out)]) == 0
    line = f"bronze to silver, bar 0.7 and 10 cases: conditions met, but the decision is {outcome}"
    assert line in capsys.readouterr().out
    status, out, _ = verdict(capsys, "--target-tier=silver")
    assert status == 1
    assert out.splitlines() == [
        f"echo: bronze to silver: conditions met, but the decision is {outcome}",
        "  all conditions met",
        f"  decision of the run: {outcome}",
    ]
    status, out, _ = verdict(capsys, "--target-tier=silver", "--json")
    assert (status, json.loads(out)["decision"]) == (1, outcome)
    status, out, _ = verdict(capsys, "--target-tier=bronze")  # to keep its tier is no promotion
    assert (status, out.splitlines()[0]) == (0, "echo: bronze, still: keep")


def test_what_is_missing_for_the_next_tier_is_listed(bench):
    tiers(bench)
    bench.run("-v").stdout.fnmatch_lines(
        [
            "tier      bronze; not enough for silver:",
            "  score_lower_bound_95 0.368 < 0.7; unreachable at n=3: perfect scores give 0.368",
            "  3 cases passed; silver asks for 10; unreachable at n=3",
        ]
    )
    assert not (bench.out / "evidence/echo/promotion.toml").exists()


def test_lines_of_an_earlier_run_do_not_outlive_it(bench, kept):
    tiers(bench)
    improved(bench, kept)
    bench.engine(baseline="auto")
    assert (bench.out / "evidence/echo/promotion.toml").exists()
    bench.case("01", answer="no")
    bench.engine(baseline="auto")
    assert not (bench.out / "evidence/echo/promotion.toml").exists()


def test_a_class_of_the_highest_tier_is_held_to_it(bench):
    tiers(bench, '[current]\necho = "platinum"\n')
    bench.run("-v").stdout.fnmatch_lines(["tier      platinum; not enough for platinum:"])
    assert bench.record()["verdict"]["recommendation"] == "demote"


@pytest.mark.parametrize("text", ["[current]\necho = 'gol'\n", "\xff"])
def test_a_damaged_file_of_tiers_leaves_the_run_as_it_was(bench, text):
    bench.engine()
    before = bench.record()["report"]["run_id"]
    tiers(bench)
    (bench.root / "docs" / "trust-tiers.toml").write_bytes(text.encode("latin-1"))
    result = bench.run()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["tier      not evaluated: *trust-tiers.toml:*"])
    assert bench.record()["report"]["run_id"] == before
    assert promotion(bench)["verdict"] == "not_evaluated"


def test_a_chain_that_was_broken_before_is_no_ground_for_a_promotion(bench):
    tiers(bench)
    ten(bench)
    for _ in range(3):
        bench.engine()
    first = next((bench.out / "runs/echo").glob("00000001-*")) / "record.json"
    first.write_bytes(first.read_bytes().replace(b'"seed": 0', b'"seed": 1', 1))
    bench.run("-v").stdout.fnmatch_lines(
        [
            "tier      bronze; not enough for silver:",
            "  the chain of records is not intact, or the run is not in it",
        ]
    )


# The head


def properties(path):
    suite = ET.parse(path).getroot().find("testsuite")  # noqa: S314 - pytest wrote it
    return {p.get("name"): p.get("value") for p in suite.find("properties")}


@pytest.mark.parametrize("workers", [(), pytest.param(("-n2",), marks=pytest.mark.slow)])
def test_the_head_stands_in_the_terminal_and_in_junit(bench, workers):
    result = bench.run("-v", "--junit-xml=junit.xml", *workers, apart=bool(workers))
    head = f"1:{bench.head()['sha256']}"
    result.stdout.fnmatch_lines([f"head      echo={head}"])
    assert properties(bench.root / "junit.xml") == {
        "bench.echo.run_id": bench.record()["report"]["run_id"],
        "bench.echo.cost_usd": "0.75",
        "bench.echo.decision": "hold",
        "bench.echo.reason_codes": "checkpoint_promotion_blocked_baseline_missing",
        "bench.echo.head": head,
    }
    assert main(["verify", str(bench.out), f"--head=echo={head}", "--require-complete"]) == 0


def test_a_selected_run_has_no_head(bench):
    bench.run("-v", "-k01", "--junit-xml=junit.xml").stdout.no_fnmatch_line("head *")
    found = properties(bench.root / "junit.xml")
    assert found["bench.echo.decision"] == "not_evaluated"
    assert "bench.echo.head" not in found


# The command


def verdict(capsys, *arguments):
    status = main(["verdict", "--task-class=echo", *arguments])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_the_command_says_who_decides_and_what_to_merge(bench, kept, capsys):
    tiers(bench)
    improved(bench, kept)
    bench.engine(baseline="auto")
    capsys.readouterr()
    status, out, _ = verdict(capsys, "--target-tier=silver")
    assert status == 0
    assert out.splitlines() == [
        "echo: bronze to silver: promote",
        "  all conditions met",
        "  decision of the run: promote",
        "A person decides. To follow this, merge into docs/trust-tiers.toml:",
        "",
        "    [current]",
        '    echo = "silver"',
    ]
    status, out, _ = verdict(capsys, "--target-tier=gold")
    assert status == 1
    assert "unreachable at n=10" in out
    status, out, _ = verdict(capsys, "--target-tier=bronze", "--json")
    assert (status, json.loads(out)["recommendation"]) == (0, "keep")


def test_a_demotion_is_recommended_in_the_same_words(bench, capsys):
    tiers(bench, '[current]\necho = "silver"\n')
    bench.engine()
    capsys.readouterr()
    status, out, _ = verdict(capsys, "--target-tier=silver")
    assert status == 1
    assert out.startswith("echo: silver, still: demote\n")
    assert '    echo = "bronze"' in out
    status, _, err = verdict(capsys, "--target-tier=bronze")
    assert status == 2
    assert "echo is silver, above bronze" in err


def test_a_record_whose_files_were_edited_is_no_evidence(bench, kept, capsys):
    tiers(bench)
    improved(bench, kept)
    bench.engine(baseline="auto")
    (bench.folder() / "cases" / "01.json").write_text("{}")
    capsys.readouterr()
    assert verdict(capsys, "--target-tier=silver")[0] == 1


def test_what_the_command_cannot_use_is_said(bench, capsys):
    bench.engine()
    capsys.readouterr()
    status, _, err = verdict(capsys, "--target-tier=silver")
    assert status == 2
    assert re.search(r"trust-tiers\.toml:1: cannot be read: No such file", err)
    tiers(bench, "[thresholds]\nsilver = 2\n")
    status, _, err = verdict(capsys, "--target-tier=silver")
    assert status == 2
    assert "trust-tiers.toml:2: thresholds.silver" in err
    tiers(bench)
    assert main(["verdict", "--task-class=none", "--target-tier=silver"]) == 1
    assert "unknown task class 'none'" in capsys.readouterr().err
    status, _, err = verdict(capsys, "--target-tier=silver", "--out=nowhere")
    assert status == 1
    assert "there is no record" in err
    (bench.folder() / "record.json").write_text("{}")
    status, _, err = verdict(capsys, "--target-tier=silver")
    assert status == 1
    assert "no valid record of a run" in err
