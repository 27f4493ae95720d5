"""What systems may read, and who says so: the owner of the bench, never the system."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchgate.artifacts.run_kinds import RunRecord
from benchgate.cli import main
from benchgate.errors import EvalError
from benchgate.verify.against_bench import Terms
from benchgate.wire.shard import Shard
from tests.engine.test_isolation import without_sandbox

pytestmark = pytest.mark.skipif(bool(without_sandbox()), reason=without_sandbox())

READS = """
    found = Path(PATH).read_text()
"""


@pytest.fixture
def run(bench):
    """Run the class in a sandbox, against nothing."""

    def run(level="sandbox", **settings):
        return bench.engine(isolation=level, baseline="none", **settings).judgement.report

    return run


def told(report):
    """What is said of the first trial."""
    first = report.per_case[0]
    return first.detail or "".join(str(mode.detail) for mode in first.failure_modes)


def reading(bench, path):
    """Write a system that reads a file, whose path may have the folder of the class as {BENCH}."""
    bench.system(f"from pathlib import Path\nPath({str(path)!r}).read_text()")


def test_a_system_reads_its_own_code_and_what_it_is_granted(bench, run, tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("noted")
    reading(bench, notes)
    refused = run()
    assert refused.per_case[0].outcome == "harness_error"
    assert f"{notes}" in told(refused)
    assert "what 'reads' names" in told(refused)
    bench.grant(reads=[str(notes)])
    granted = run()
    assert granted.passed_count == 3
    assert granted.reads == (str(notes),)
    assert granted.plan_id != refused.plan_id


@pytest.mark.parametrize(
    "wrapped",
    [
        "raise OSError(f'cannot connect: {error}') from error",
        "raise RuntimeError('the model is away')",
        "raise urllib.error.URLError(error)",
    ],
)
def test_a_client_that_wraps_a_refused_connection_names_the_grant_once(bench, run, wrapped):
    bench.system(
        "import socket, urllib.error\n"
        "try:\n"
        "    socket.create_connection(('127.0.0.1', 9))\n"
        "except PermissionError as error:\n"
        f"    {wrapped}"
    )
    said = told(run())
    assert said.count("sockets unless 'network' is granted") == 1


def test_what_a_system_says_of_its_rights_means_nothing(bench, run, tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("noted")
    reading(bench, notes)
    bench.append("system.py", f"system.reads = ({str(notes)!r},)\nsystem.network = True\n")
    report = run()
    assert report.passed_count == 0
    assert (report.isolation_class, report.reads) == ("sandbox", ())


def test_a_path_is_relative_to_the_folder_of_the_class(bench, run):
    bench.write("weights/w.txt", "7")
    reading(bench, bench.path / "weights/w.txt")
    bench.grant(reads=["weights"])
    assert run().passed_count == 3


HIDDEN = [
    ".",
    "cases",
    "cases/01/expected/answer.txt",
    "cases/02/input",
    "rubric.py",
    "registration.py",
    "cassettes",
    "labels.toml",
    "../../.benchgate",
    "../..",
]


@pytest.mark.parametrize("path", HIDDEN)
def test_no_grant_shows_what_is_right(bench, run, path):
    bench.grant(reads=[path])
    with pytest.raises(EvalError, match=r"shout is granted /.*; a sandbox hides"):
        run()


@pytest.mark.parametrize("path", ["cases/01/expected/answer.txt", "rubric.py"])
def test_a_checkpoint_obeys_the_rules_of_reads(bench, run, path):
    bench.grant(checkpoint=path)
    with pytest.raises(EvalError, match="shout is granted /"):
        run()


def test_a_grant_of_what_is_not_there_is_wrong_use(bench, run):
    bench.grant(reads=["weights"])
    with pytest.raises(EvalError, match=r"is granted /.*/weights, which does not exist"):
        run()


def test_a_link_shows_no_more_than_what_it_leads_to(bench, run):
    bench.write("data/own.txt", "own")
    (bench.path / "data/answers").symlink_to("../cases")
    reading(bench, bench.path / "data/answers/01/expected/answer.txt")
    bench.grant(reads=["data"])
    assert "Permission denied" in told(run())
    bench.grant(reads=["data/answers"])
    with pytest.raises(EvalError, match="which shows"):
        run()


def test_a_system_imports_files_and_packages_of_its_class(bench, run):
    bench.write("facts.py", "from .words.capitals import upper")
    bench.write("words/__init__.py", "")
    bench.write("words/capitals.py", "upper = str.upper")
    bench.write("systems/agent.py", AGENT)
    bench.write("registration.py", bench_registration("systems.agent:current"))
    assert run().passed_count == 3
    assert run("process").passed_count == 3


AGENT = """
from ..facts import upper

def current(case):
    return {"answer": upper((case.input_path / "question.txt").read_text())}
"""


def bench_registration(call):
    return f"""
        from benchgate import register_task_class
        from .rubric import EchoRubric

        @register_task_class("echo", systems={{"shout": {call!r}}})
        class Registered(EchoRubric): ...
    """


@pytest.mark.parametrize("module", ["rubric", "registration"])
def test_a_system_that_imports_what_is_hidden_is_wrong_use(bench, run, module):
    text = (bench.path / "system.py").read_text()
    bench.write("system.py", f"def later():\n    from . import {module}\n{text}")
    with pytest.raises(EvalError, match=rf"its code has .*/{module}\.py; a sandbox"):
        run()


def test_a_package_of_cases_is_not_opened_by_an_import(bench, run):
    bench.write("cases/__init__.py", "")
    text = (bench.path / "system.py").read_text()
    bench.write("system.py", f"def later():\n    from . import cases\n{text}")
    with pytest.raises(EvalError, match="which shows"):
        run()


def test_a_system_by_its_address_has_its_package_and_what_the_class_grants_it(
    bench, run, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    package = tmp_path / "own_agent"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "answers.py").write_text(
        "import neighbour\nfrom . import own\ndef answer(case):\n"
        "    return {'answer': neighbour.upper((case.input_path / 'question.txt').read_text())}\n"
    )
    (package / "own.py").write_text("")
    (tmp_path / "neighbour.py").write_text("upper = str.upper")
    with pytest.raises(EvalError, match=r"/neighbour\.py.* what 'reads' names"):
        run(system="own_agent.answers:answer")
    assert "own_agent" not in sys.modules
    bench.write("gate.toml", f"[run]\nreads = ['{tmp_path}/neighbour.py']\n")
    report = run(system="own_agent.answers:answer")
    assert report.passed_count == 3
    assert report.reads == (f"{tmp_path}/neighbour.py",)


def test_a_checkpoint_is_handed_over(bench, run):
    bench.write("weights.bin", "w")
    bench.system("assert case.checkpoint.path.read_text() == 'w'")
    bench.append("system.py", "from pathlib import Path\nsystem.checkpoint = Path(__file__)\n")
    with pytest.raises(EvalError, match=r"names the checkpoint .* by itself; 'checkpoint' stands"):
        run("process")
    bench.grant(checkpoint="weights.bin")
    reports = [run(level) for level in ("none", "process", "sandbox")]
    assert [report.passed_count for report in reports] == [3, 3, 3]
    assert len({report.run_id for report in reports}) == 1
    assert len({report.digests.checkpoint for report in reports}) == 1


def objections(bench):
    record = RunRecord.read_file(bench.folder() / "record.json", "record")
    return " ".join(Terms.of(record, bench.out, bench.root / "bench", {}).objections())


def test_verify_compares_what_a_system_could_read(bench, run):
    bench.write("weights/w.txt", "7")
    bench.grant(reads=["weights"], network=True)
    run()
    assert "its system" not in objections(bench)
    bench.grant()
    said = objections(bench)
    assert "its system had the network, which" in said
    assert "its system could read weights besides its code, where" in said
    bench.grant(reads=["weights"], network=True)
    bench.grant(network=True, reads=[])
    run()
    bench.grant(reads=["weights"])
    assert "its system could read nothing besides its code" in objections(bench)


def test_verify_compares_what_the_class_grants_an_address(bench, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_agent.py").write_text(
        AGENT.replace("from ..facts import upper", "upper = str.upper")
    )
    bench.write("gate.toml", "[run]\nnetwork = true\n")
    assert run(system="own_agent:current").isolation_class == "sandbox+network"
    assert "its system" not in objections(bench)
    bench.write("gate.toml", "[run]\nnetwork = false\n")
    assert "its system had the network, which" in objections(bench)


def test_an_import_has_the_limits_of_a_trial(bench, run):
    text = (bench.path / "system.py").read_text()
    bench.write("system.py", f"import time\ntime.sleep(60)\n{text}")
    with pytest.raises(EvalError, match=r"shout: importing it took longer than 0\.5 s"):
        run(timeout=0.5)
    bench.write("gate.toml", "[run]\nlimits = { disk = 1000000 }\n")
    bench.write("system.py", f"import time\n{WRITES}\n{text}")
    with pytest.raises(EvalError, match=r"takes more than limits\.disk, which is 1000000 bytes"):
        run(timeout=20.0)


WRITES = """
with open("big", "wb") as file:
    for _ in range(200):
        file.write(bytes(100_000))
        file.flush()
        time.sleep(0.02)
"""


def test_a_trial_that_writes_too_much_ends(bench, run):
    bench.write("gate.toml", "[run]\nlimits = { disk = 1000000 }\n")
    bench.system("import time\nif case.case_id == '01':\n" + indented(WRITES))
    report = run(timeout=20.0)
    assert [one.outcome for one in report.per_case] == ["harness_error", "scored", "scored"]
    assert "limits.disk, which is 1000000 bytes" in told(report)


def indented(text):
    return "\n".join(f"    {line}" for line in text.strip().splitlines())


def test_no_code_of_a_system_runs_in_the_session(bench, run, tmp_path):
    text = (bench.path / "system.py").read_text()
    noted = tmp_path / "noted"
    noted.write_text("")
    note = (
        f"import os\nwith open({str(noted)!r}, 'a') as file:\n    file.write(f'{{os.getpid()}} ')\n"
    )
    digest = f"def digest():\n    {note.replace(chr(10), chr(10) + '    ')}\n    return 'd'\n"
    bench.write("system.py", f"{note}{text}{digest}system.digest = digest\n")
    assert run("process").digests.system == "d"
    pids = noted.read_text().split()
    assert pids
    import os

    assert str(os.getpid()) not in pids
    assert not [name for name in sys.modules if name.endswith(".echo.system")]


def test_a_class_as_a_system_is_called_once(bench, run):
    bench.write(
        "system.py",
        """
        class Agent:
            def digest(self):
                return "v1"
            def __call__(self, case):
                return {"answer": (case.input_path / "question.txt").read_text().upper()}
        """,
    )
    bench.write("registration.py", bench_registration("system:Agent"))
    for level in ("none", "process"):
        report = run(level)
        assert (report.passed_count, report.digests.system) == (3, "v1")


def test_bytecode_beside_a_rubric_is_not_run(bench, run):
    import importlib.util
    import py_compile

    source = bench.path / "rubric.py"
    honest = source.read_text()
    forged = honest.replace("float(right)", "float(1.000)").replace("passed=right", "passed=True ")
    assert len(forged) == len(honest)
    status = source.stat()
    source.write_text(forged)
    cached = Path(importlib.util.cache_from_source(str(source)))
    py_compile.compile(
        str(source),
        cfile=str(cached),
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )
    source.write_text(honest)
    import os

    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
    bench.system("return {'answer': 'wrong'}")
    for level in ("none", "process"):
        assert run(level).passed_count == 0


LATE = """
import importlib, sys
sys.path.insert(0, ROOT)
assert importlib.import_module('late').right
"""


def test_a_rubric_imports_nothing_that_is_newer_than_systems(bench, run):
    bench.write("../../late.py", "right = 1")
    bench.rubric(LATE)
    bench.write(
        "rubric.py", f"ROOT = {str(bench.root)!r}\n{(bench.path / 'rubric.py').read_text()}"
    )
    assert run("process").passed_count == 3
    late = str(bench.root / "late.py")
    bench.system(f"if case.case_id == '02':\n    open({late!r}, 'a').write('\\n')")
    report = run("process")
    assert [one.outcome for one in report.per_case] == ["scored", "rubric_error", "rubric_error"]
    last = report.per_case[-1].failure_modes[0].detail
    assert f"{late} was changed after the rubric was imported" in last
    assert not report.complete


def test_a_long_digest_is_wrong_use_at_every_level(bench, run):
    bench.append("system.py", "system.digest = lambda: 'd' * 5000\n")
    for level in ("none", "process"):
        with pytest.raises(EvalError, match="a digest of 5000 characters; at most 4096 are kept"):
            run(level)


def test_what_an_import_prints_is_shown_by_the_session(bench, run, capfd):
    bench.append("system.py", "print('imported \\x1b[2J')\n")
    assert run("process").complete
    err = capfd.readouterr().err
    assert "imported \\x1b[2J" in err


def test_a_package_wins_over_a_module_of_its_name(bench, run):
    bench.write("agents.py", "raise ValueError('the module')")
    text = (bench.path / "system.py").read_text()
    bench.write("agents/__init__.py", text)
    bench.write("registration.py", bench_registration("agents:system"))
    for level in ("none", "process", "sandbox"):
        assert run(level).passed_count == 3


def test_a_link_in_the_code_of_a_system_is_wrong_use(bench, run, tmp_path):
    (tmp_path / "elsewhere.txt").write_text("key = 1")
    (bench.path / "facts.py").symlink_to(tmp_path / "elsewhere.txt")
    text = (bench.path / "system.py").read_text()
    bench.write("system.py", f"from . import facts\n{text}")
    with pytest.raises(EvalError, match=r"its code has the link .*/facts\.py, which leads to"):
        run()
    assert run("process").passed_count == 3


def test_a_merge_keeps_the_rights_of_its_parts(bench):
    bench.write("weights/w.txt", "7")
    bench.grant(reads=["weights"], network=True)
    for part in (1, 2):
        parts = bench.root / "parts"
        bench.engine(isolation="sandbox", baseline="none", shard=Shard(part, 2), out=parts)
    folders = sorted(str(path.parent) for path in parts.rglob("trials.sha256"))
    assert main(["merge", *folders, f"--out={bench.out}"]) == 0
    report = bench.record()["report"]
    assert (report["isolation_class"], report["reads"]) == ("sandbox+network", ["weights"])
