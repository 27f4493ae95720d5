# mypy: allow-untyped-defs, allow-untyped-calls
"""What the stand-ins have of what images and packages bring, and that a broken answer finds nothing more."""

import os
import shutil
import subprocess
import sys
import zipfile
from contextlib import nullcontext
from io import BytesIO

import pytest
from _benchgate_bench.migration_chainguard_distroless.dockerfile.reference import Reference
from _benchgate_bench.migration_chainguard_distroless.observers import builder
from _benchgate_bench.migration_chainguard_distroless.observers.standins import (
    facts,
    images,
    packages,
)
from _benchgate_bench.migration_chainguard_distroless.tests.support import stood_in

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stand-ins are shell scripts")

LIMIT = "#!/bin/sh\necho stand-in limit: program\n"


def files_of(image):
    """Return the paths of what stands in for an image and its packages."""
    reference = Reference.read(image)
    held = facts.facts_of(reference)
    names = (reference.image, f"{reference.image}-dev" * reference.tag.endswith("-dev"))
    found = {path for name in names for path in images.BRINGS.get(name, ())} | {
        *images.held_by(held)
    }
    return found | {*images.lacking(found, held)}


@pytest.mark.parametrize(
    ("image", "path", "has"),
    [
        ("cgr.dev/o/ruby:latest-dev", "/usr/bin/bundle", True),
        ("cgr.dev/o/ruby:latest-dev", "/usr/bin/gem", True),
        ("cgr.dev/o/ruby:latest-dev", "/usr/bin/make", True),
        # The real image has gem, and its bundler is a package of its own.
        ("cgr.dev/o/ruby:latest", "/usr/bin/gem", True),
        ("cgr.dev/o/ruby:latest", "/usr/bin/bundle", False),
        ("cgr.dev/o/ruby:latest", "/usr/bin/make", False),
        ("cgr.dev/o/ruby:latest-dev", "/usr/bin/rails", False),
        ("cgr.dev/o/python:latest-dev", "/usr/bin/gcc", True),
        ("cgr.dev/o/python:latest", "/usr/bin/gcc", False),
        ("cgr.dev/o/node:latest-dev", "/usr/bin/corepack", True),
        ("cgr.dev/o/node:latest", "/usr/bin/npx", True),
        ("cgr.dev/o/jdk:latest", "/usr/bin/javac", True),
        ("cgr.dev/o/jre:latest", "/usr/bin/javac", False),
        ("cgr.dev/o/python:latest", "/usr/lib/libsqlite3.so.0", True),
        ("cgr.dev/o/static:latest", "/usr/lib/libsqlite3.so.0", False),
        ("cgr.dev/o/wolfi-base:latest", "/usr/bin/git", False),
        ("cgr.dev/o/go:latest", "/usr/bin/git", True),
    ],
)
def test_an_image_has_the_programs_and_libraries_of_its_packages(image, path, has):
    assert (path in files_of(image)) is has


def test_what_stands_in_for_a_program_is_not_hidden():
    held = facts.facts_of(Reference.read("cgr.dev/o/go:latest"))

    assert images.lacking({}, held)["/usr/bin/ssh"] == "limit"
    assert "/usr/bin/ssh" not in images.lacking({"/bin/ssh"}, held)
    without_shell = facts.facts_of(Reference.read("cgr.dev/o/ruby:latest"))
    assert images.lacking({}, without_shell)["/usr/bin/gem"] == "unshelled"


def test_java_is_where_its_variable_says():
    held = facts.facts_of(Reference.read("cgr.dev/o/jdk:latest"))
    home = "/usr/lib/jvm/default-jvm/bin"

    links = images.of_java({"/usr/bin/java", "/usr/bin/javac"}, held)

    assert links == {f"{home}/java": "/usr/bin/java", f"{home}/javac": "/usr/bin/javac"}
    assert not images.of_java(
        {"/usr/bin/java"}, facts.facts_of(Reference.read("cgr.dev/o/go:latest"))
    )


@pytest.mark.parametrize(
    ("package", "paths"),
    [
        ("sqlite-dev", {"/usr/lib/libsqlite3.so", "/usr/lib/libsqlite3.so.0"}),
        ("sqlite-libs", {"/usr/lib/libsqlite3.so.0"}),
        ("libpq-18", {"/usr/lib/libpq.so.5"}),
        ("openssl-dev", {f"/usr/lib/lib{n}.so{v}" for n in ("ssl", "crypto") for v in ("", ".3")}),
        ("cmake", set()),
    ],
)
def test_a_package_of_apk_brings_its_libraries(package, paths):
    assert {path for path in images.ADDED.get(package, ()) if "/lib/" in path} == paths


APK = {
    "kept/packages": "pip\npython-3.99\ncmake\nfoo-dev\nsqlite-dev\nruby4.0-bundler\nbuild-base\n",
    "kept/trees": "pip python3 pip\npython-3.99 python3\n",
    "kept/tree/python3/usr/bin/python3": "#!/bin/sh\necho this is python\n",
    "kept/programs": "python-3.99 python3 python3.99\ncmake cmake-x cpack-x\n"
    "ruby4.0-bundler bundle\nbuild-base make-x\n",
    "kept/limit": LIMIT,
    "kept/pkg/sqlite-dev/usr/lib/libsqlite3.so.0": "lib",
}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="apk needs root")
@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("apk add cmake && {to}/usr/bin/cpack-x", "stand-in limit: program"),
        ("apk add ruby4.0-bundler && {to}/usr/bin/bundle", "stand-in limit: program"),
        ("apk add sqlite-dev && cat {to}/usr/lib/libsqlite3.so.0", "lib"),
        ("apk add foo-dev", "stand-in brought: foo-dev"),
        ("apk add cmake && {to}/usr/bin/gone", "not found"),
        ("apk add cmake && apk del cmake && {to}/usr/bin/cpack-x", "not found"),
        ("apk add cmake && apk del cmake && ls {to}/usr/bin", ""),
        ("apk add python-3.99 && {to}/usr/bin/python3.99", "this is python"),
        ("apk add pip && {to}/usr/bin/python3", "this is python"),
        ("apk add pip && apk del pip && {to}/usr/bin/python3", "not found"),
        ("apk add pip python-3.99 && apk del pip && ls {to}/usr/bin", "python3\npython3.99\n"),
        ("rm -r ../kept/tree; apk add python-3.99 && {to}/usr/bin/python3.99", "limit: program"),
        ("apk add libssl-dev", "libssl-dev (no such package)"),
        ("apk add cmake libssl-dev gone", "packages: libssl-dev gone (no such package)"),
        ("apk add 'cmake=3.25.1-r0'", "stand-in limit: apk-version"),
        ("apk add cmake~3.25", "stand-in limit: apk-version"),
        ("apk add 'cmake>3'", "stand-in brought: cmake"),
        ("apk add cmake=3.25.1-1+deb12u1", "is not a valid world dependency"),
        ("apk add 'cmake=3.*'", "is not a valid world dependency"),
    ],
)
def test_apk_brings_what_the_tables_have(tmp_path, script, said):
    held = stood_in(
        tmp_path,
        "apk",
        APK,
        script.format(to=f"{tmp_path}/to"),
        {" to=/\n": f" to={tmp_path}/to\n"},
    )

    assert said in held


@pytest.mark.skipif(not shutil.which("node"), reason="npm's stand-in is run by node")
@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("npm install -g typescript@5 && bin/tsc", "stand-in limit: program"),
        ("npm i --global pnpm@9.12.0 && bin/pnpm", "this is pnpm"),
        ("npm install --location=global @angular/cli && bin/ng", "stand-in limit: program"),
        ("npm install -g typescript && ls lib/node_modules", "typescript"),
        ("npm install -g typescript && bin/nest", "not found"),
        ("npm install -g something-else", "stand-in limit: npm-global"),
        ("npm install", "npm error: no package.json"),
        ("npm install express@4 && ls node_modules", "express"),
        ("npm config set prefix $PWD/here && npm i -g serve && ls here/bin", "serve"),
        ("npm install -g -s npm@latest && echo done", "done"),
    ],
)
def test_npm_installs_for_everybody(tmp_path, script, said):
    kept = {
        "kept/npm": "typescript tsc\n@angular/cli ng\nserve serve\npnpm pnpm\nnpm\n",
        "kept/limit": LIMIT,
    }
    kept["kept/module.js"] = (images.HERE / "scripts/module.js").read_text()
    kept["kept/pnpm"] = "#!/bin/sh\necho this is pnpm\n"
    env = f"export HOME={tmp_path} NPM_CONFIG_PREFIX=; cd {tmp_path}/project; "

    held = stood_in(
        tmp_path, "npm", kept, env + script, {"prefix=/usr\n": f"prefix={tmp_path}/project\n"}
    )
    assert said in held.splitlines()[-1]


LOCK = (
    "GEM\n  specs:\n    puma (6.4.3)\n      nio4r (~> 2.0)\n    rack (3.1.7)\n\nPLATFORMS\n  ruby\n"
)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("bundle install --standalone && cat bundle/bundler/setup.rb", "rack-3.1.7"),
        (
            "bundle config set --local path vendor/bundle && bundle && ls vendor/bundle/ruby/4.0.0/gems",
            "puma-6.4.3",
        ),
        (
            "bundle config set --local deployment true && bundle install && ls vendor/bundle/ruby",
            "4.0.0",
        ),
        ("BUNDLE_PATH=x bundle install && ls x/ruby/4.0.0/gems", "puma-6.4.3"),
        ("bundle config --local frozen 1; rm Gemfile.lock; bundle install", "lockfile"),
        ("rm Gemfile; bundle install", "Could not locate Gemfile"),
        ("bundle exec rake db", "bundler: command not found: rake"),
        ("sed -i s/rack/odd/ Gemfile.lock; bundle exec rake db", "stand-in limit: ruby-program"),
        ("bundle config path x && bundle exec env pwd", "project"),
        ("bundle whatever", 'Could not find command "whatever".'),
        ("rm Gemfile.lock; BUNDLE_PATH=x bundle install && ls x/ruby/4.0.0/gems", "sinatra"),
    ],
)
def test_bundler_makes_the_gems_of_the_lock(tmp_path, script, said):
    files = {
        "project/Gemfile": 'source "https://rubygems.org"\n\ngem "sinatra", "~> 4.0"\n',
        "project/Gemfile.lock": LOCK,
        "kept/gems": "puma puma pumactl\nnio4r\nrack\n",
    }

    assert said in stood_in(tmp_path, "bundle", files, f"export HOME={tmp_path}; {script}")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("gem --version", "stand-in"),
        ("gem install bundler:2.5.3 --no-document && echo done", "done"),
        ("gem install bundler rails", "stand-in limit: gem-install"),
        ("gem install --no-document rails", "stand-in limit: gem-install"),
        ("gem whatever", "Unknown command whatever"),
    ],
)
def test_gem_has_what_the_image_has(tmp_path, script, said):
    assert said in stood_in(tmp_path, "gem", {}, script)


@pytest.mark.parametrize(
    ("name", "script", "said"),
    [
        ("corepack", "corepack enable --install-directory . && echo done", "done"),
        ("corepack", "corepack use pnpm", "stand-in limit: corepack-verb"),
        ("cargo", "touch Cargo.toml; cargo chef cook", "error: no such command: `chef`"),
        ("cargo", "cargo install diesel_cli", "stand-in limit: cargo-install"),
        ("composer", "composer global require x/y", "stand-in limit: composer-verb"),
    ],
)
def test_what_a_tool_cannot_do_here_is_said(tmp_path, name, script, said):
    assert said in stood_in(tmp_path, name, {}, script)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("poetry run send -m mailer --interval 30", "/project/.venv: -m mailer --interval 30"),
        ("mkdir below; cd below; poetry run send", "/project/.venv:"),
        ("poetry run env", "/project/.venv/bin:"),
        ("poetry run gone", "Command not found: gone"),
        ("poetry run serve", "stand-in limit: poetry-verb"),
        ("poetry shell", "stand-in limit: poetry-verb"),
        ("rm pyproject.toml; poetry run send", "could not find a pyproject.toml file"),
        ("touch poetry.lock; poetry install --no-root && echo done", "done"),
        ("touch poetry.lock; poetry install --frobnicate", "stand-in limit: option"),
        ("POETRY_FROBNICATE=1 poetry --version", "stand-in limit: variable"),
        ("poetry frobnicate", "The command frobnicate does not exist."),
    ],
)
def test_poetry_runs_a_program_in_the_environment_of_the_project(tmp_path, script, said):
    files = {
        "project/pyproject.toml": '[project]\ndependencies = []\n[project.scripts]\nserve = "a:b"\n',
        "project/.venv/bin/python": "",
        "project/.venv/bin/send": '#!/bin/sh\necho "$VIRTUAL_ENV: $*"\n',
    }
    env = f"export HOME={tmp_path}; unset VIRTUAL_ENV; "

    assert said in stood_in(tmp_path, "poetry", files, env + script)


PIPFILE = '[packages]\nflask = "*"\n[dev-packages]\npytest = "*"\n[scripts]\nserve = "send --all"\n'
PIPLOCK = (
    '{"default": {"flask": {"version": "==3.0.3"}}, "develop": {"pytest": {"version": "==8.0"}}}'
)
REQUIRES = """printf '[requires]\\npython_version = "3.12"\\n' >> Pipfile; """


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("pipenv install --deploy", "-m pip install flask==3.0.3"),
        ("pipenv sync --dev", "-m pip install flask==3.0.3 pytest==8.0"),
        ("pipenv install", "-m pip install flask\n"),
        ("pipenv requirements", "simple\nflask==3.0.3\n"),
        ("pipenv run serve --now", "/project/.venv: --all --now"),
        ("pipenv run gone", "the command gone could not be found"),
        ("pipenv --venv", "/project/.venv\n"),
        ("pipenv install requests", "stand-in limit: pipenv-verb"),
        ("pipenv lock", "stand-in limit: pipenv-verb"),
        ("pipenv install --frobnicate", "stand-in limit: option"),
        ("PIPENV_PIPFILE=x pipenv install", "stand-in limit: variable"),
        ("rm Pipfile; pipenv install --system --deploy", "No Pipfile present"),
        ("rm Pipfile.lock; pipenv install --system --deploy", "Pipfile.lock not found!"),
        (REQUIRES + "pipenv install --system --deploy", "ERROR:: Aborting deploy"),
        (REQUIRES + "pipenv sync", "Python 3.12 was not found on your system"),
        (REQUIRES + "VIRTUAL_ENV=.venv pipenv sync", "-m pip install flask==3.0.3"),
        (
            REQUIRES + "sed -i s/3.12/3.14/ Pipfile; pipenv install --deploy",
            "-m pip install flask==3.0.3",
        ),
        ("pipenv frobnicate", "No such command 'frobnicate'."),
    ],
)
def test_pipenv_installs_what_its_files_ask_for(tmp_path, script, said):
    files = {
        "project/Pipfile": PIPFILE, "project/Pipfile.lock": PIPLOCK,
        "project/.venv/bin/python": '#!/bin/sh\necho "$*"\n',
        "project/.venv/bin/send": '#!/bin/sh\necho "$VIRTUAL_ENV: $*"\n',
    }  # fmt: skip
    env = f"export HOME={tmp_path}; unset VIRTUAL_ENV; "

    assert said in stood_in(tmp_path, "pipenv", files, env + script)


def test_the_packages_of_a_pipfile_are_there(tmp_path):
    (tmp_path / "Pipfile").write_text(PIPFILE + '[packages.psycopg]\nversion = ">=3.1"\n')
    (tmp_path / "Pipfile.lock").write_text(PIPLOCK)

    wanted = {("flask", "1.0"), ("flask", "3.0.3"), ("pytest", "8.0"), ("psycopg", "3.1")}
    assert wanted <= images.wheels([tmp_path])


def installed(tmp_path, names, extra=()):
    """Unpack wheels, and return the folder."""
    for name in names:
        with zipfile.ZipFile(BytesIO(images.wheel(name, "1.0", extra)[1])) as held:
            held.extractall(tmp_path)
    return tmp_path


def imported(code, folder):
    """Run code that imports from a folder, and return how it ends and what it says."""
    # What a package does it does where containers are looked at; in a build it is a limit.
    there = f"import os\nos.uname = lambda: type('', (), {{'nodename': '{images.OBSERVED}'}})\n"
    done = subprocess.run(  # noqa: S603 - what is tested
        [sys.executable, "-S", "-c", there + code], env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("PyYAML", "import yaml; yaml.safe_load('')"),
        ("beautifulsoup4", "from bs4 import BeautifulSoup; BeautifulSoup('').find('a')"),
        ("python-dateutil", "from dateutil.parser import parse; parse('')"),
        ("psycopg2-binary", "import psycopg2.extras"),
        ("scikit-learn", "from sklearn.linear_model import Ridge"),
        ("opencv-python-headless", "import cv2"),
        ("python-dotenv", "from dotenv import load_dotenv"),
        ("flask-cors", "import flask_cors.core as core; assert core.x.y"),
        (
            "flask",
            "import flask.x.y\nfrom flask import Flask\nclass A(Flask): pass\nfor one in A().x: pass",
        ),
    ],
)
def test_a_package_of_python_brings_the_modules_that_it_is_known_for(tmp_path, name, code):
    assert imported(code, installed(tmp_path, [name])) == (0, "")


def test_a_module_that_no_package_is_known_for_is_a_limit_where_the_project_imports_it(tmp_path):
    project = tmp_path / "app/input"
    (project / "own").mkdir(parents=True)
    (project / "requirements.txt").write_text("gunicorn==23.0\nodd-name==1.0\n")
    (project / "main.py").write_text("import json, odd\nimport own\nfrom gunicorn import app\n")
    (project / "own/__init__.py").write_text("from . import x\nimport strange.below\n")

    assert ("odd-name", "1.0") in images.wheels([tmp_path])
    assert images.unknown_modules([tmp_path]) == {
        "gunicorn": {"odd", "strange"},
        "odd-name": {"odd", "strange"},
    }
    folder = installed(tmp_path / "x", ["odd-name"], {"odd"})
    assert imported("import odd", folder) == (70, "stand-in limit: module\n")
    assert imported("import gone", folder)[1].endswith("No module named 'gone'\n")


@pytest.mark.parametrize(
    ("brought", "step", "is_limit"),
    [
        ("imagemagick-7", "COPY --from=build /usr/lib/libImageMagick.so.1* /usr/lib/", True),
        ("ffmpeg-7-libavcodec61", "COPY --from=build /usr/lib/libavcodec.so.61 /usr/lib/", True),
        (
            "glibc-locale-en",
            "COPY --from=build /usr/lib/locale/en_US.utf8 /usr/lib/locale/en",
            True,
        ),
        ("libfoo-dev", "RUN cp /usr/lib/libfoo.so.2 /out", True),
        # A package of the table brings its libraries by their names, and they end as nobody here knows.
        ("sqlite-dev", "COPY --from=build /usr/lib/libsqlite3.so.0.8.6 /usr/lib/", True),
        ("sqlite-dev", "COPY --from=build /usr/lib/libsqlite3.so.0* /usr/lib/", False),
        ("sqlite-dev", "COPY --from=build /usr/lib/libsqlite3.so.9 /usr/lib/", False),
        ("libfoo-dev", "COPY --from=build /usr/lib/libbar.so.2 /usr/lib/", False),
        ("libfoo-dev", "COPY --from=build /usr/lib/x86_64-linux-gnu/libfoo.so.2 /usr/lib/", False),
        ("libfoo-dev", "COPY --from=build /app/libfoo /usr/lib/libfoo", False),
        ("", "COPY --from=build /usr/lib/libfoo.so.2 /usr/lib/", False),
    ],
)
def test_a_file_of_a_package_that_nobody_listed_is_a_limit(brought, step, is_limit):
    said = f"#8 0.1 stand-in brought: {brought}\n#9 [stage-1 2/3] {step}\n#9 DONE 0.0s\n"
    expected = (
        pytest.raises(builder.Unavailable, match="file of a package") if is_limit else nullcontext()
    )

    with expected:
        builder.Builder("docker", stands_in=True)._within_limits(said)


def test_an_answer_cannot_say_itself_that_it_is_beyond_the_stand_ins(tmp_path):
    for text in ("stand-in limit: program", "stand-in brought: foo"):
        found = builder.Builder("docker", stands_in=True).observe(
            {"Dockerfile": f"FROM a\nRUN echo '{text}'\n"}, tmp_path / "x", {}
        )
        assert found == {"built": False, "error": "it says stand-in, as only stand-ins do"}


def test_apk_knows_the_packages_that_there_are():
    kept = set(packages.LISTED.split())
    assert {"sqlite-dev", "ffmpeg-9.0", "imagemagick", "postgresql-18-client"} <= kept
    assert not {"libssl-dev", "zlib1g-dev", "musl-dev"} & kept
