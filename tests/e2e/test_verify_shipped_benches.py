"""Every shipped bench: what the session decided is what another process draws from its files."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLASSES = sorted(path.parent.name for path in (ROOT / "bench").glob("*/registration.py"))


LARGE = "vuln-remediation"
MAIN = "import sys; from benchgate.cli import main; sys.exit(main())"


def python(*arguments):
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def benchgate(*arguments):
    return python("-c", MAIN, *arguments)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("out")


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.slow) for name in CLASSES if name != LARGE),
        pytest.param(LARGE, marks=pytest.mark.nightly),  # its largest projects take a minute
    ],
)
def test_verify_agrees_with_the_session(out, name):
    session = python(
        "-m", "pytest", f"--bench={name}", f"--bench-out={out / name}", "-v", "-p", "no:randomly"
    )
    said = session.stdout
    decided = re.search(r"^(PROMOTE|HOLD|REJECT) ", said, re.MULTILINE)[1].lower()
    head = re.search(rf"^head +({name}=1:[0-9a-f]{{64}})$", said, re.MULTILINE)[1]
    verified = benchgate("verify", str(out / name), f"--head={head}", "--require-complete")
    assert verified.returncode == 0, verified.stderr
    assert f"{name}: 1 valid record; newest: {decided}, complete" in verified.stdout
    assert "record 1 has the head that was given" in verified.stdout

    promotion = out / name / "evidence" / name / "promotion.json"
    assert json.loads(promotion.read_bytes())["decision"]["outcome"] == decided
    evidence = [str(path) for path in promotion.parent.glob("*.json")]
    assert benchgate("verify", *evidence).returncode == 0
    # Turned round, it is found.
    other = "hold" if decided == "promote" else "promote"
    promotion.write_text(
        promotion.read_text().replace(f'"outcome": "{decided}"', f'"outcome": "{other}"')
    )
    assert benchgate("verify", str(out / name)).returncode == 1
