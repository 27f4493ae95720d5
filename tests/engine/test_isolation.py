"""Trials in processes of their own: the same results, and nothing that a system does outlives its trial."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchgate.artifacts.run_kinds import RunRecord
from benchgate.cli import main
from benchgate.errors import EvalError
from benchgate.verify.against_bench import Terms
from benchgate.wire.shard import Shard

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux")
LIBRARY = next((name for name in ("httpx2", "httpx") if importlib.util.find_spec(name)), None)


def without_sandbox():
    """Why the level cannot be had here; nothing if it can."""
    from benchgate.isolation import sandbox

    try:
        sandbox.check()
    except EvalError as error:
        return str(error)
    return ""


@pytest.fixture
def run(bench, tmp_path, monkeypatch):
    """Run the class at a level, and check that nothing is left of it: no process, descriptor or folder."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))

    def run(level="process", **settings):
        before = set(os.listdir("/proc/self/fd"))
        children = _children()
        try:
            return bench.engine(isolation=level, baseline="none", **settings).judgement.report
        finally:
            assert _children() == children
            assert len(os.listdir("/proc/self/fd")) <= len(before)
            assert not list(temporary.iterdir())

    return run


def _children():
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text()


def _result(report, case_id="01"):
    return next(result for result in report.per_case if result.case_id == case_id)


def _told(report, case_id="01"):
    """The outcome of a trial, and why."""
    result = _result(report, case_id)
    modes = [f"{mode.code}: {mode.detail}" for mode in result.failure_modes]
    return f"{result.outcome} {result.detail or ''} {' '.join(modes)}"


EVERY_END = """
    import asyncio, os
    from benchgate.errors import SystemUnavailable
    if case.case_id == "01":
        (case.work_path / "sub").mkdir()
        (case.work_path / "sub" / "left.txt").write_text("left")
        case.usage.add(cost_usd=0.5)
    if case.case_id == "02":
        raise ValueError("no")
    if case.case_id == "03":
        raise SystemUnavailable("away")
    if case.case_id == "04":
        os._exit(3)
    if case.case_id == "05":
        async def later():
            await asyncio.sleep(0)
            return {"answer": "Q05", "usage": {"tokens_in": 3}}
        return later()
    if case.case_id == "06":
        return {"answer": float("nan")}
    if case.case_id == "07":
        return {"answer": "x", "rl_payload": {}}
"""


def test_every_end_of_a_trial_is_the_same_at_both_levels(bench, run):
    for number in range(4, 9):
        bench.case(f"{number:02}")
    bench.system(EVERY_END)
    bench.rubric("""
        if case.case_id == "08":
            raise KeyError("of the rubric")
        if case.case_id == "01":
            assert (case.work_path / "sub" / "left.txt").read_text() == "left"
    """)
    reports = [run("none", retries=0), run(retries=0), run(retries=0, jobs=3)]
    if not without_sandbox():
        reports.append(run("sandbox", retries=0))
    told = [[_told(report, f"{n:02}") for n in range(1, 9)] for report in reports]
    assert all(one == told[0] for one in told)
    assert len({report.run_id for report in reports}) == 1
    levels = ["none", "process", "process", "sandbox"]
    assert [report.isolation_class for report in reports] == levels[: len(reports)]
    assert reports[0].plan_id != reports[1].plan_id
    plain = [
        [result.model_copy(update={"duration_seconds": 0.0}) for result in report.per_case]
        for report in reports
    ]
    assert all(one == plain[0] for one in plain)


def test_what_a_system_changes_is_gone_with_its_trial(bench, run):
    bench.system("""
        import json, math, pathlib, threading, time
        from benchgate import BenchScore
        import sys
        BenchScore.__init__ = None
        json.loads = math.fsum = lambda *_: 1
        sys.modules["_benchgate_bench.echo.rubric"] = None
        threading.Thread(target=lambda: time.sleep(60)).start()
        assert pathlib.Path.cwd() not in case.input_path.parents[2:] and case.expected_path is None
        (case.input_path / "question.txt").write_text(case.case_id)
    """)
    report = run()
    assert {result.outcome for result in report.per_case} == {"scored"}
    assert (bench.path / "cases/01/input/question.txt").read_text() == "q01"


def test_daemons_end_before_the_output_is_scored(bench, run, tmp_path):
    bench.system(f"""
        import glob, os, time
        here = "{tmp_path}/" + case.case_id + "-"
        if not os.fork():
            os.setsid()
            for _ in range(2):
                os.fork()
            open(here + str(os.getpid()), "w").close()
            time.sleep(60)
        while len(glob.glob(here + "*")) < 4:
            time.sleep(0.01)
    """)
    bench.rubric(f"""
        import glob, os
        seen = [path.rpartition("-")[2] for path in glob.glob("{tmp_path}/" + case.case_id + "-*")]
        assert len(seen) == 4 and not [pid for pid in seen if os.path.exists("/proc/" + pid)]
    """)
    assert {result.outcome for result in run().per_case} == {"scored"}


def test_a_daemon_without_its_first_thread_ends_too(bench, run, tmp_path):
    bench.system(f"""
        import ctypes, os, threading, time
        if not os.fork():
            def tick():
                while True:
                    with open("{tmp_path}/" + case.case_id, "a") as file:
                        file.write("x")
                    time.sleep(0.01)
            threading.Thread(target=tick).start()
            ctypes.CDLL(None).syscall(60)  # exit, of this thread alone
        while not os.path.exists("{tmp_path}/" + case.case_id):
            time.sleep(0.01)
    """)
    bench.rubric(f"""
        import os, time
        before = os.path.getsize("{tmp_path}/" + case.case_id)
        time.sleep(0.2)
        assert os.path.getsize("{tmp_path}/" + case.case_id) == before
    """)
    assert {result.outcome for result in run().per_case} == {"scored"}


def test_a_trial_that_speaks_without_end_is_cut_off(bench, run, monkeypatch):
    monkeypatch.setattr("benchgate.isolation.call.PATIENCE", 0.5)
    bench.system("""
        import os, signal, time
        channel = next(n for n in range(3, 99) if os.path.exists(f"/proc/self/fd/{n}"))
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
        while case.case_id == "01":
            os.write(channel, b" ")
            time.sleep(0.1)
    """)
    started = time.monotonic()
    report = run(timeout=1.0)
    assert time.monotonic() - started < 20
    assert _result(report).outcome == "timeout"
    assert [_result(report, case_id).outcome for case_id in ("02", "03")] == ["scored"] * 2


def test_a_trial_over_its_limit_ends_soon_while_others_go_on(bench, run):
    bench.case("01", timeout_seconds="1")
    bench.system("""
        import ctypes, signal
        if case.case_id == "01":
            case.usage.add(cost_usd=0.25)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
            ctypes.PyDLL(None).sleep(60)
    """)
    started = time.monotonic()
    report = run(jobs=2)
    assert time.monotonic() - started < 30
    outcomes = {result.case_id: result.outcome for result in report.per_case}
    assert outcomes == {"01": "timeout", "02": "scored", "03": "scored"}
    assert _result(report).usage.cost_usd == 0.25


NO_RESULTS = [
    ("ctypes.CDLL(None)._exit(0)", "ended without a result, status 0"),
    ("os.kill(os.getpid(), 9)", "ended without a result, status -9"),
    ("os.write(channel, b'x'); os.kill(os.getpid(), 9)", "Expecting value"),
    ("os.write(channel, b'[]\\n')", "not enough values"),
    ('os.write(channel, b\'{"a": 1, "a": 2}\\n\')', "appears twice"),
    ('os.write(channel, b\'["result", "{}"]\\n\'); ctypes.CDLL(None)._exit(0)', "is no result"),
    ('os.write(channel, b\'["result", "{}"]\\n\')', "something after its result"),
    ("[os.write(channel, b'\\x01' * 2**20) for _ in range(300)]", "are read"),
]


def test_only_a_result_that_is_whole_counts(bench, run):
    numbered = {f"{number:02}": row for number, row in enumerate(NO_RESULTS, 1)}
    for case_id in [*numbered, "09"]:
        bench.case(case_id)
    channel = 'next(n for n in range(3, 99) if os.path.exists(f"/proc/self/fd/{n}"))'
    does = [f"if case.case_id == '{case_id}': {row[0]}" for case_id, row in numbered.items()]
    bench.system("\n".join(["import ctypes, os", f"channel = {channel}", *does]))
    report = run()
    for case_id, (_, told) in numbered.items():
        assert _told(report, case_id).startswith("harness_error"), case_id
        assert told in _told(report, case_id)
    assert _result(report, "09").outcome == "scored"


def test_what_prints_without_end_is_cut(bench, run, capsys):
    bench.system("""
        import sys
        if case.case_id == "01":
            for _ in range(40):
                sys.stdout.write("x" * 2**20)
    """)
    assert {result.outcome for result in run().per_case} == {"scored"}
    assert 10**6 <= len(capsys.readouterr().out) < 10**7


def test_a_helper_that_dies_is_replaced_with_all_that_it_has_started(bench, run, tmp_path):
    bench.system(f"""
        import os, signal, time
        parent = int(open(f"/proc/{{os.getppid()}}/stat").read().split(")")[1].split()[1])
        if case.case_id == "01":
            if not os.fork():
                os.setsid()
                time.sleep(5)
                open("{tmp_path}/lived", "w").close()
            os.kill(parent, signal.SIGKILL)
            time.sleep(5)
    """)
    report = run()
    assert "what watches it died" in _told(report)
    assert [_result(report, case_id).outcome for case_id in ("02", "03")] == ["scored"] * 2
    assert not (tmp_path / "lived").exists()


def test_a_supervisor_that_is_killed_takes_its_trial_with_it(bench, run, tmp_path):
    bench.system(f"""
        import os, signal, time
        if case.case_id == "01":
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(5)
            open("{tmp_path}/lived", "w").close()
    """)
    report = run()
    assert "the process that imported it died" in _told(report)
    assert not (tmp_path / "lived").exists()


FORGED = """
    import ctypes, json, os
    from benchgate.isolation.messages import TOLD
    from benchgate.trials.calls import Told
    channel = next(n for n in range(3, 99) if os.path.exists(f"/proc/self/fd/{n}"))
    forged = None
    FORGERIES
    if forged is not None:
        told = json.dumps(["result", TOLD.dump_json(forged).decode()])
        os.write(channel, told.encode() + b"\\n")
        ctypes.CDLL(None)._exit(0)
"""
FORGERIES = [
    ("Told(failed='not_run', detail='x')", "not_run", "in its own process: x"),
    ("Told(failed='rubric_error')", "harness_error", "not for it to say"),
    ("Told(failed='skipped')", "harness_error", "not for it to say"),
    ("Told(failed='timeout', violation='no')", "harness_error", "not for it to say"),
    ("Told(failed='unavailable', retry_after=-1.0)", "harness_error", "not for it to say"),
    ("Told(failed='unavailable', text='{}')", "harness_error", "is no result"),
]


def test_a_process_speaks_for_its_own_trial_alone(bench, run):
    numbered = {f"{number:02}": row for number, row in enumerate(FORGERIES, 1)}
    for case_id in [*numbered, "07"]:
        bench.case(case_id)
    forged = [
        f"if case.case_id == '{case_id}': forged = {row[0]}" for case_id, row in numbered.items()
    ]
    bench.system(FORGED.replace("FORGERIES", "\n    ".join(forged)))
    report = run()
    for case_id, (_, outcome, told) in numbered.items():
        assert _told(report, case_id).startswith(outcome), case_id
        assert told in _told(report, case_id)
        assert _result(report, case_id).why is None
    assert _result(report, "07").outcome == "scored"
    assert not report.stopped


def test_three_deaths_in_a_row_of_those_who_watch_end_the_run(bench, run):
    for number in range(4, 7):
        bench.case(f"{number:02}")
    bench.system("""
        import os, signal, time
        if case.case_id != "02":
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(5)
    """)
    report = run()
    outcomes = [result.outcome for result in report.per_case]
    died = "harness_error"
    assert outcomes == [died, "scored", died, died, died, "not_run"]
    assert "its process died 3 times in a row" in _told(report, "06")
    assert not report.complete


@pytest.mark.slow
def test_who_watches_and_stands_still_does_not_hold_up_the_session(
    bench, run, tmp_path, monkeypatch
):
    monkeypatch.setattr("benchgate.isolation.call.PATIENCE", 0.5)  # who is stopped needs none
    bench.system(f"""
        import os, signal, time
        open("{tmp_path}/" + str(os.getppid()), "w").close()
        os.kill(os.getppid(), signal.SIGSTOP)
    """)
    report = run(timeout=1.0)
    assert [result.outcome for result in report.per_case] == ["timeout"] * 3
    assert [pid for pid in os.listdir(tmp_path) if pid.isdigit()]
    assert not [pid for pid in os.listdir(tmp_path) if Path("/proc", pid).exists()]


def test_a_session_that_is_killed_leaves_no_process(bench, tmp_path):
    bench.system(f"""
        import os, time
        if not os.fork():
            os.setsid()
        open("{tmp_path}/" + str(os.getpid()), "w").close()
        time.sleep(60)
    """)
    command = [sys.executable, "-m", "benchgate", "run", "--task-class=echo", "--baseline=none"]
    session = subprocess.Popen([*command, "--isolation=process"], cwd=bench.root)
    _wait_until(lambda: len([name for name in os.listdir(tmp_path) if name.isdigit()]) == 2)
    session.kill()
    session.wait()
    _wait_until(
        lambda: not [name for name in os.listdir(tmp_path) if Path("/proc", name, "fd").exists()]
    )


def _wait_until(is_so):
    ends = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < ends
        time.sleep(0.05)


@pytest.mark.parametrize("level", ["none", "process"])
def test_a_folder_that_is_too_deep_for_python_counts_and_is_removed(bench, run, level):
    bench.system("""
        import os
        here = os.getcwd()
        os.chdir(case.work_path)
        for _ in range(1100 if case.case_id == "01" else 0):
            os.mkdir("d")
            os.chdir("d")
        os.chdir(here)
    """)
    outcomes = [result.outcome for result in run(level).per_case]
    assert outcomes == ["scored", "scored", "scored"]


def test_what_a_work_folder_shares_with_another_is_copied(bench, run):
    bench.write("shared.txt", "as it was")
    bench.system(f"""
        import os
        os.link({str(bench.path / "shared.txt")!r}, case.work_path / "own.txt")
    """)
    bench.rubric("""
        own = case.work_path / "own.txt"
        assert own.read_text() == "as it was"
        own.write_text("changed")
    """)
    assert {result.outcome for result in run().per_case} == {"scored"}
    assert (bench.path / "shared.txt").read_text() == "as it was"


def test_an_import_that_fails_there_says_where_its_environment_comes_from(bench, run, monkeypatch):
    text = (bench.path / "system.py").read_text()
    monkeypatch.setenv("TOKEN", "here")
    bench.write("system.py", f"import os\nTOKEN = os.environ['TOKEN']\n{text}")
    with pytest.raises(EvalError, match=r"(?s)isolation=process: shout: .*TOKEN.*pass_env"):
        run()
    ends = "import ctypes, os\nif 'TOKEN' not in os.environ:\n    ctypes.CDLL(None)._exit(0)\n"
    bench.write("system.py", f"{ends}{text}")
    with pytest.raises(EvalError, match="isolation=process: shout: importing it ends its process"):
        run()


def test_a_bench_where_a_sandbox_may_read_is_wrong_use(bench, run, monkeypatch):
    if reason := without_sandbox():
        pytest.skip(reason)
    monkeypatch.setattr("benchgate.isolation.sandbox.READABLE", ("/usr", str(bench.root)))
    with pytest.raises(EvalError, match="which is read, has cases of echo"):
        run("sandbox")


def test_the_environment_is_an_allow_list_and_the_folder_its_own(bench, run, monkeypatch):
    monkeypatch.setenv("TOKEN", "secret")
    monkeypatch.setenv("ASKED_FOR", "given")
    bench.write("gate.toml", '[run]\npass_env = ["ASKED_FOR"]\nlimits = { memory = 4294967296 }\n')
    bench.system("""
        import os, pathlib, resource, tempfile
        assert "TOKEN" not in os.environ and os.environ["ASKED_FOR"] == "given"
        assert b"TOKEN" not in pathlib.Path("/proc/self/environ").read_bytes()
        here = pathlib.Path.cwd()
        assert pathlib.Path(tempfile.gettempdir()) == pathlib.Path.home() == here
        assert case.work_path.parent == here
        assert len(os.listdir("/proc/self/fd")) == 5
        assert resource.getrlimit(resource.RLIMIT_AS)[0] == 2**32
    """)
    assert {result.outcome for result in run().per_case} == {"scored"}, _told(run())


def test_what_cannot_be_isolated_is_wrong_use(bench, run, monkeypatch):
    with pytest.raises(EvalError, match="cannot be found by a name in a process of its own"):
        run(system=lambda _: {})
    text = (bench.path / "registration.py").read_text()
    bench.write("registration.py", text.replace("): ...", "):\n    weight = 2\n"))
    with pytest.raises(EvalError, match=r"defines weight; move it into rubric\.py"):
        run()
    bench.write("registration.py", text)
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(EvalError, match="needs Linux"):
        run()


def test_the_rubric_is_imported_without_the_registration(bench, run):
    bench.rubric("""
        import sys, os
        assert "_benchgate_bench.echo.registration" not in sys.modules
        assert "_benchgate_bench.echo.system" not in sys.modules
        assert "" not in sys.path and os.getcwd() == "/"
    """)
    assert {result.outcome for result in run().per_case} == {"scored"}


def test_a_system_whose_import_leaves_threads_is_wrong_use(bench, run):
    bench.write(
        "system.py",
        """
        import threading, time
        threading.Thread(target=lambda: time.sleep(3600), daemon=True).start()
        def system(case): ...
        """,
    )
    with pytest.raises(EvalError, match="shout: importing it starts threads, which trials lack"):
        run()


def test_threads_of_a_library_of_numbers_end_for_a_fork(bench, run):
    bench.write("extra.py", "import numpy; numpy.ones((500, 500)) @ numpy.ones((500, 500))")
    bench.system("from . import extra; assert extra.numpy.ones(3).sum() == 3")
    text = (bench.path / "system.py").read_text()
    bench.write("system.py", f"from . import extra\n{text}")
    assert {result.outcome for result in run().per_case} == {"scored"}


WHERE = """
    import os, socket
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        socket.create_connection(one.getsockname(), 5).close()
    found = dict(pid=os.getpid(), has=sorted({"KEY", "SECRET"} & {*os.environ}))
    found["files"] = case.expected_path.exists() and os.path.exists("/proc/1/cmdline")
    return {"score": 1.0, **found}
"""


@pytest.mark.parametrize("level", ["process", "sandbox"])
def test_an_observer_has_a_process_of_its_own_and_no_sandbox(bench, run, monkeypatch, level):
    if level == "sandbox" and without_sandbox():
        pytest.skip(without_sandbox())
    bench.write("gate.toml", '[run]\nobserver_env = ["KEY"]\npass_env = ["SECRET"]\n')
    bench.observer(WHERE)
    for name in ("KEY", "SECRET"):
        monkeypatch.setenv(name, "x")
    assert run(level).complete
    seen = [bench.trial(case)["observations"][0] for case in ("01", "02", "03")]
    assert len({os.getpid(), *(one["pid"] for one in seen)}) == 4
    assert all((one["has"], one["files"]) == (["KEY"], True) for one in seen)


def test_an_observer_is_called_when_nothing_of_the_system_is_left(bench, run, tmp_path):
    bench.observer(f"""
        import os
        pid = open("{tmp_path}/" + case.case_id).read()
        return {{"score": float(not os.path.exists("/proc/" + pid))}}
    """)
    bench.system(f"""
        import os, time
        if not os.fork():
            os.setsid()
            with open("{tmp_path}/" + str(os.getpid()), "w") as file:
                file.write(str(os.getpid()))
            os.rename(file.name, "{tmp_path}/" + case.case_id)
            time.sleep(60)
        while not os.path.exists("{tmp_path}/" + case.case_id):
            time.sleep(0.01)
    """)
    assert run().mean_score == 1.0


def test_outputs_are_observed_again_in_a_process_of_its_own(bench, run):
    bench.observer(WHERE)
    run()
    first = bench.trial("01")["observations"][0]["pid"]
    assert run(reobserve="1").isolation_class == "process"
    assert bench.trial("01")["observations"][0]["pid"] not in {first, os.getpid()}


NO_OBSERVATIONS = [
    ("raise ValueError('no JSON')", "ValueError: no JSON"),
    ("return 7", "ValueError: returned int; expected a mapping"),
    ("os.kill(os.getpid(), 9)", "in its own process: ended without a result, status -9"),
    ("case.http_transport('none')", "in its own process: no cassette 'none' has the HTTP"),
    ("time.sleep(60)", "neither observed nor scored within 1 s"),
]


def test_an_observer_that_fails_there_loses_no_output(bench, run):
    numbered = {f"{number:02}": row for number, row in enumerate(NO_OBSERVATIONS, 2)}
    for case_id in [*numbered, "07"]:
        bench.case(case_id)
    bench.case("06", timeout_seconds="1")  # the one that sleeps
    first = [
        f"if case.case_id == '{c}' and asked == 1: {does}" for c, (does, _) in numbered.items()
    ]
    bench.observer("\n".join(["import os, time", *first]))
    report = run()
    outcomes = [one.outcome for one in report.per_case]
    assert outcomes == ["scored", *["unavailable"] * len(numbered), "scored"]
    for case_id, (_, told) in numbered.items():
        assert told in _told(report, case_id)
        assert bench.trial(case_id)["output"] == {"answer": f"Q{case_id}"}
    assert run(resume="auto").complete
    assert bench.asked() == ["01", *numbered, "07", *numbered]


def test_an_observer_that_is_away_is_asked_again_there(bench, run, monkeypatch):
    monkeypatch.setattr("benchgate.trials.pacing.FIRST_DELAY", 0.01)
    bench.observer(
        "case.usage.add(cost_usd=0.5)\nif case.case_id == '02' and asked < 3: raise OSError('429')",
        "judge.unavailable = (OSError,)",
    )
    report = run()
    assert report.complete
    assert bench.asked().count("02") == 3
    assert report.total_cost_usd == pytest.approx(2.5)


def test_an_observer_that_is_another_there_is_wrong_use(bench, run, monkeypatch):
    monkeypatch.setenv("JUDGE", "m-2")
    bench.observer(attributes="import os\njudge.model = os.environ.get('JUDGE', 'm-1')")
    with pytest.raises(EvalError, match=r"its observer: model was m-2, is m-1; .* observer_env"):
        run()


def test_a_lower_level_than_the_baselines_holds_and_a_higher_one_is_named(bench, run):
    run()
    bench.pin()
    bench.engine(baseline="auto")
    decision = bench.record()["decision"]
    assert "checkpoint_promotion_blocked_baseline_mismatch" in decision["reason_codes"]
    assert "its isolation is process, now none, which is lower" in str(decision["remarks"])
    run("none")
    bench.pin()
    told = "isolation process: the baseline's was none, where a system could do more"
    with pytest.warns(UserWarning, match=told):
        bench.engine(isolation="process", baseline="auto")
    assert main(["verify", str(bench.out)]) == 0


def test_verify_refuses_a_level_below_the_classs(bench, run):
    run("none")
    bench.write("gate.toml", '[run]\nisolation = "sandbox"\n')
    record = RunRecord.read_file(bench.folder() / "record.json", "record")
    objections = Terms.of(record, bench.out, bench.root / "bench", {}).objections()
    assert any("its isolation is none, where" in text for text in objections)


def test_outputs_are_recorded_and_found_from_inside(bench, run):
    assert run(record="kept").complete
    manifest = json.loads((bench.path / "cassettes/kept/manifest.json").read_text())
    assert manifest["isolation_class"] == "process"
    assert run("none", replay="kept").isolation_class == "process"
    bench.system("""
        import json
        found = case.cassette("kept")
        return json.loads(found.path.read_text())["output"]
    """)
    assert run().passed_count == 3


@pytest.mark.skipif(LIBRARY is None, reason="needs httpx2 or httpx")
def test_http_is_recorded_and_replayed_by_the_session(bench, run):
    bench.system(
        f"""
        import {LIBRARY} as httpx
        def answer(request):
            return httpx.Response(200, json={{"q": case.case_id}})
        with httpx.Client(transport=case.http_transport("web", inner=INNER(answer))) as client:
            client.get("http://nowhere/q")
    """.replace("INNER", "httpx.MockTransport")
    )
    assert run(record="web").passed_count == 3
    bench.case("04")
    report = run()
    assert all(_result(report, c).http_cassettes == ("web",) for c in ("01", "02", "03"))
    assert [one.outcome for one in report.per_case] == ["scored"] * 3 + ["not_run"]


def test_shards_keep_the_level(bench, run):
    for part in (1, 2):
        run(shard=Shard(part, 2), out=bench.root / "parts")
    parts = sorted(str(path.parent) for path in (bench.root / "parts").rglob("trials.sha256"))
    assert main(["merge", *parts, f"--out={bench.out}"]) == 0
    assert bench.record()["report"]["isolation_class"] == "process"


@pytest.mark.slow
def test_many_trials_leave_nothing(run):
    assert len(run(trials=334, jobs=4).per_case) == 1002


@pytest.mark.slow
def test_a_sandbox_has_what_programs_need(bench, run):
    if reason := without_sandbox():
        pytest.skip(reason)
    bench.write("../../own/data.txt", "data")
    bench.system("""
        import asyncio, os, shutil, socket, ssl, subprocess, tempfile
        import numpy

        async def loop():
            child = await asyncio.create_subprocess_exec("true", stdin=asyncio.subprocess.DEVNULL)
            return await child.wait()

        assert asyncio.run(loop()) == 0
        assert ssl.create_default_context().get_ca_certs() is not None
        with tempfile.NamedTemporaryFile() as file:
            file.write(bytes(numpy.zeros(9)))
        assert len(os.listdir("/proc/self/fd")) > 3 and os.urandom(1) and open("/dev/urandom", "rb").read(1)
        if shutil.which("node"):
            assert subprocess.run(["node", "-e", "0"], stdin=subprocess.DEVNULL).returncode == 0
        assert open(READS).read() == "data"
    """)
    text = (bench.path / "system.py").read_text()
    data = (bench.root / "own/data.txt").resolve()
    bench.write("system.py", f"READS = {str(data)!r}\n{text}")
    bench.grant(reads=[str(data)])
    report = run("sandbox")
    assert {result.outcome for result in report.per_case} == {"scored"}, _told(report)
    assert (report.isolation_class, report.reads) == ("sandbox", (str(data),))
    bench.write("system.py", SYSTEM_WITH_NETWORK)
    bench.grant(network=True)
    report = run("sandbox")
    assert {result.outcome for result in report.per_case} == {"scored"}, _told(report)
    assert report.isolation_class == "sandbox+network"
    bench.grant(reads=["/"])
    with pytest.raises(EvalError, match=r"shout is granted /, which shows .*/cases"):
        run("sandbox")


SYSTEM_WITH_NETWORK = """
import socket

def system(case):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()
    for family in (socket.AF_UNIX, socket.AF_NETLINK):
        try:
            socket.socket(family).close()
        except PermissionError:
            continue
        raise AssertionError(family)
    return {"answer": (case.input_path / "question.txt").read_text().upper()}
"""


def test_a_sandbox_that_cannot_be_had_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "landlockpy", None)
    assert "needs the extra 'sandbox'" in without_sandbox()
