"""``benchgate pin --extend``: the pinned system runs on new cases alone, and the baseline has them too."""

from __future__ import annotations

import pytest

from benchgate.cli import main


def test_new_cases_are_run_alone_and_pinned(echo, capsys):
    root = str(echo.root / "bench")
    where = [f"--bench-root={root}", f"--out={echo.out}"]
    assert main(["run", "--task-class=echo", *where]) in {0, 10}
    assert main(["pin", "1", "--yes", *where]) == 0
    echo.case("04")
    print(main(["pin", "--extend", "--task-class=echo", *where]))
    print(main(["pin", "--extend", "--task-class=echo", "--yes", *where]))
    print(capsys.readouterr())
    print(main(["verify", str(echo.out)]))
    print(capsys.readouterr())
    print(main(["pin", "--extend", "--task-class=echo", "--yes", *where]))
    main(["run", "--task-class=echo", *where])
    main(["check",  f"--bench-root={root}"])
    print(main(["verify", str(echo.out)]))
    cap = capsys.readouterr()
    print(cap.out, cap.err)
    assert 0
