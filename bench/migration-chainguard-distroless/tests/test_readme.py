# mypy: allow-untyped-defs, allow-untyped-calls
"""That the class's README names what there is."""

from _benchgate_bench.migration_chainguard_distroless.axes import AXES
from _benchgate_bench.migration_chainguard_distroless.harm import HARMS
from _benchgate_bench.migration_chainguard_distroless.tests import support

README = (support.CLASS / "README.md").read_text(encoding="utf-8")
SYSTEMS = ("claims-success", "do-nothing", "stage-aware", "table-converter")


def test_the_readme_has_every_axis_with_its_weight_and_every_penalty():
    for name, axis in AXES.items():
        assert f"| `{name}` | {axis.weight} |" in README
    for code, (penalty, _) in HARMS.items():
        assert f"| `{code}` | {penalty:g} |" in README


@support.needs_observations()
def test_the_readme_has_all_systems_and_the_number_of_cases():
    assert all(f"`{name}`" in README for name in SYSTEMS)
    assert README.startswith(f"# {support.CLASS.name}\n\n{len(support.CASES)} Dockerfiles")
