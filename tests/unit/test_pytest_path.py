"""Commands that import a bench look for a project's packages where pytest does: pytest itself is asked."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchgate.cli.pytest_path import import_folders
from benchgate.errors import EvalError

INI = "[pytest]\npythonpath = src lib\n"
PROJECTS = {
    "nothing": {},
    "pytest.ini": {"pytest.ini": INI},
    ".pytest.ini": {".pytest.ini": INI},
    "tox.ini": {"tox.ini": INI},
    "setup.cfg": {"setup.cfg": "[tool:pytest]\npythonpath = .\n"},
    "pyproject.toml": {"pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["src", "."]\n'},
    "a text in pyproject.toml": {
        "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = \"src 'two words'\"\n"
    },
    "the first of two": {"pytest.ini": "[pytest]\npythonpath = a\n", "tox.ini": INI},
    "an empty pytest.ini": {"pytest.ini": "", "tox.ini": INI},
    "files of others": {
        "tox.ini": "[tox]\n",
        "pyproject.toml": "[project]\nname = 'x'\n",
        "setup.cfg": "[metadata]\nname = x\n",
    },
    "a conftest": {"conftest.py": ""},
    "a conftest and a setting": {"conftest.py": "", "pytest.ini": INI},
    "importlib": {
        "conftest.py": "",
        "pytest.ini": "[pytest]\naddopts = -q --import-mode=importlib\npythonpath = .\n",
    },
    "append": {"conftest.py": "", "pytest.ini": "[pytest]\naddopts = --import-mode append\n"},
    "noconftest": {"conftest.py": "", "pytest.ini": "[pytest]\naddopts = --noconftest\n"},
    "in a package": {"conftest.py": "", "__init__.py": ""},
    "above": {"../pytest.ini": INI, "../conftest.py": "", "conftest.py": ""},
    "a pyproject.toml above": {
        "../pyproject.toml": "[project]\nname = 'x'\n",
        "../conftest.py": "",
    },
    "a setup.py above": {"../setup.py": "", "../conftest.py": ""},
    "a conftest above the root": {"../conftest.py": "", "pytest.ini": ""},
    "a conftest beside the classes": {"bench/conftest.py": "", "pytest.ini": INI},
}
OF_PYTEST_9 = {
    "pytest.toml": {"pytest.toml": '[pytest]\npythonpath = ["src"]\n', "pytest.ini": INI},
    ".pytest.toml": {".pytest.toml": '[pytest]\npythonpath = ["src"]\n'},
    "an empty pytest.toml": {"pytest.toml": "", "pytest.ini": INI},
    "tool.pytest": {
        "conftest.py": "",
        "pyproject.toml": '[tool.pytest]\npythonpath = ["src"]\naddopts = ["--import-mode=importlib"]\n',
    },
}


@pytest.fixture
def project(pytester):
    """The folder of a project, one below that of the test, in which files are written."""
    here = pytester.mkdir("project")

    def write(files):
        for name, text in files.items():
            path = here / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return here

    return write


def added(folders):
    """What is new on ``sys.path`` for a list of folders before and one behind."""
    first, last = folders
    return [*first, *last]


def as_pytest(pytester, monkeypatch, here):
    """What pytest has put on ``sys.path`` when it has read its settings and loaded the first conftests."""
    monkeypatch.chdir(here)
    # `python -m pytest` put the folder of this repository there, whose own conftest would be found behind it.
    before = [path for path in sys.path if not (here / path / "conftest.py").exists()]
    monkeypatch.setattr(sys, "path", list(before))
    pytester.parseconfig()
    return [path for path in sys.path if path not in before]


@pytest.mark.parametrize("files", PROJECTS.values(), ids=PROJECTS)
def test_it_is_the_path_of_pytest(pytester, project, monkeypatch, files):
    here = project(files)
    (here / "bench").mkdir(exist_ok=True)
    assert added(import_folders(here / "bench", {})) == as_pytest(pytester, monkeypatch, here)


@pytest.mark.skipif(pytest.version_tuple < (9, 0), reason="read by pytest 9 and newer")
@pytest.mark.parametrize("files", OF_PYTEST_9.values(), ids=OF_PYTEST_9)
def test_it_is_the_path_of_pytest_9(pytester, project, monkeypatch, files):
    here = project(files)
    assert added(import_folders(here / "bench", {})) == as_pytest(pytester, monkeypatch, here)


def test_the_folder_of_the_bench_counts_and_not_the_current_one(project, tmp_path, monkeypatch):
    here = project({"pytest.ini": INI, "conftest.py": ""})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = other\n")
    first, last = import_folders(here / "bench", {})
    assert first == [str(here), str(here / "src"), str(here / "lib")]
    assert last == []


def test_the_variable_of_pytest_may_name_the_import_mode(project):
    here = project({"conftest.py": ""})
    assert import_folders(here / "bench", {}) == ([str(here)], [])
    environ = {"PYTEST_ADDOPTS": "-q --import-mode=importlib"}
    assert import_folders(here / "bench", environ) == ([], [])
    environ = {"PYTEST_ADDOPTS": "--import-mode=append"}
    assert import_folders(here / "bench", environ) == ([], [str(here)])


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("pytest.ini", "pythonpath = .\n", "pytest.ini: cannot be read: "),
        ("pyproject.toml", "[tool\n", "pyproject.toml: cannot be read: "),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\npythonpath = 3\n",
            "pythonpath of pytest in .*: expected a list of texts",
        ),
        ("pytest.ini", "[pytest]\npythonpath = 'src\n", "settings of pytest: .*No closing"),
        ("pytest.ini", "[pytest]\naddopts = --import-mode\n", "addopts of pytest: .*import-mode"),
    ],
)
def test_what_pytest_cannot_read_is_an_error(project, name, text, told):
    with pytest.raises(EvalError, match=told):
        import_folders(project({name: text}) / "bench", {})


def test_a_program_looks_into_no_settings_before_it_imports_a_bench():
    code = "import sys, benchgate.cli; print('iniconfig' in sys.modules, 'tomli' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
