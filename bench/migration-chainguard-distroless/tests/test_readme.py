# mypy: allow-untyped-defs, allow-untyped-calls
"""What the class's README says was measured, measured again."""

import re

import pytest
from _benchgate_bench.migration_chainguard_distroless.axes import AXES
from _benchgate_bench.migration_chainguard_distroless.harm import HARMS
from _benchgate_bench.migration_chainguard_distroless.tests import support
from _benchgate_bench.migration_chainguard_distroless.tools import compare_systems

from bench.readme_results import gate_summary, gated_run, repeat_baseline

pytestmark = support.needs_observations()
README = (support.CLASS / "README.md").read_text(encoding="utf-8")
SYSTEMS = ("claims-success", "do-nothing", "stage-aware", "table-converter")


@pytest.mark.slow
def test_the_tables_are_what_the_command_prints(capsys):
    compare_systems.main()

    assert capsys.readouterr().out in README


@pytest.mark.slow
def test_the_gate_promotes_stage_aware_as_the_readme_shows(tmp_path):
    found = gate_summary(gated_run(support.CLASS, "stage-aware", out=tmp_path))

    assert found.startswith("    PROMOTE ")
    assert found in README


@pytest.mark.parametrize("system", ["claims-success", "do-nothing"])
def test_the_gate_rejects_the_controls_as_the_readme_says(system):
    found = gated_run(support.CLASS, system).judgement
    shown = found.figures.significance
    low, high = shown.delta_ci_low, shown.delta_ci_high

    assert found.decision.outcome == "reject"
    assert f"{shown.mean_delta:+.3f}, interval [{low:+.3f}, {high:+.3f}]" in README


def test_the_baseline_is_a_full_run_of_table_converter_that_can_be_repeated():
    pinned, again = repeat_baseline(support.CLASS)

    assert (pinned.system, pinned.scope, pinned.complete) == ("table-converter", "full", True)
    assert [result.case_id for result in pinned.per_case] == support.CASES
    assert again.run_id == pinned.run_id


def test_the_readme_has_every_axis_with_its_weight_and_every_penalty():
    for name, axis in AXES.items():
        assert f"| `{name}` | {axis.weight} |" in README
    for code, (penalty, _) in HARMS.items():
        assert f"| `{code}` | {penalty:g} |" in README


def test_the_readme_has_all_systems_and_cases():
    assert all(f"`{name}`" in README for name in SYSTEMS)
    assert README.startswith(f"# {support.CLASS.name}\n\n{len(support.CASES)} Dockerfiles")
    traps = README[README.index("## Cases and their traps") : README.index("## Axes")]
    listed = set(re.findall(r"(?m)^\| (?:\d{3}, )?(\d{3})\b", traps)) | {"017"}
    assert listed == {case_id[:3] for case_id in support.CASES}
