# mypy: allow-untyped-defs, allow-untyped-calls
"""What a program does with what its packages give it: it works, or nobody knows; what the answer broke still counts."""

import os
import shutil
import subprocess
import sys
import zipfile
from io import BytesIO

import pytest
from _benchgate_bench.migration_chainguard_distroless.observers.standins import images
from _benchgate_bench.migration_chainguard_distroless.observers.standins.exports import (
    imported_names,
)
from _benchgate_bench.migration_chainguard_distroless.tests.support import stood_in

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stand-ins are of Linux")
needs_node = pytest.mark.skipif(not shutil.which("node"), reason="they are run by node")

DONE = "done\n"
NPM_LIMIT, PIP_LIMIT = "stand-in limit: npm-value\n", "stand-in limit: pip-value\n"
JS = (images.HERE / "scripts/module.js").read_text()
OBSERVED = JS.replace('os.hostname() !== "standin"', "false")


def node(tmp_path, program, name="main.js"):
    """Run a program with packages as where containers are looked at, and return how it ends and what it says."""
    for package in ("dotenv", "pkg"):
        there = tmp_path / "node_modules" / package
        there.mkdir(parents=True)
        (there / "index.js").write_text(OBSERVED)
    (tmp_path / ".env").write_text("# secret\nexport GREETING='hello world' # said\nPORT=1\n")
    (tmp_path / name).write_text(program)
    env = {one: held for one, held in os.environ.items() if one not in ("PORT", "DATABASE_URL")}
    done = subprocess.run(  # noqa: S603 - what is tested
        ["node", name], cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=30,  # noqa: S607
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@needs_node
@pytest.mark.parametrize(
    "program",
    [
        "const t = pkg('5s'); setTimeout(done, t);",
        "const t = pkg('5s'); if (`${t * 2} ${t / 9} ${[t, 1].reduce((a, b) => a + b, 0).toFixed(1)}`) done();",
        "new Date(pkg.now()); JSON.stringify({ t: pkg.now() }); [...pkg.all()].sort(); Object.keys(pkg.all()); done();",
        "const [{ rows }, b] = pkg.query(); for (const row of rows) row.name.trim(); if (rows.length === 0) done();",
        "const { error, value } = pkg.validate(process.env); if (error) throw error; ({ ...value }); done();",
        "const app = pkg(); app.set('port', 0); app.listen(app.get('port'), () => done());",
        "http.createServer(pkg()).listen(pkg.port, () => done());",
        "http.createServer(pkg()).listen(parseInt(pkg('x').port), function () { this.address().port; done(); });",
        "pkg.connect('db').then(client => { client.db().then(() => done()); }).catch(() => process.exit(1));",
        "(async () => { const app = await pkg.create(); await app.listen({ port: 0 }); app.url(); done(); })();",
        "pkg.connection.once('open', () => done());",
        "pkg.connect(error => { if (error) throw error; done(); });",
        "class A extends pkg.B { constructor() { super(); this.n = 1; this.x(); } run() { done(); } } new A().run();",
        "class Row extends pkg.Model { static add() { this.hasMany(Row); done(); } } Row.init({}, {}); Row.add();",
        "pkg.defaults.url = 'x'; const app = pkg(); app.locals.a = 1; if (pkg.defaults.url && app.locals.a) done();",
        "const log = pkg(); log.error('x'); pkg.level('x').errors.x; done();",
        "(async () => { setImmediate(done); for await (const one of pkg.consumer()) one; })();",
        "require('dotenv').config(); if (process.env.GREETING === 'hello world') done();",
        "try { null.x; } catch (error) { if (!(error instanceof pkg.Wrong)) done(); }",
        "pkg.use('x', () => {}); process.on('exit', () => console.log('done'));",
    ],
)  # fmt: skip
def test_a_program_of_node_goes_on_with_what_its_packages_give(tmp_path, program):
    known = "const pkg = require('pkg'), http = require('http');\n"
    known += "const done = () => { console.log('done'); process.exit(0); };\n"

    assert node(tmp_path, known + program) == (0, DONE, "")


@needs_node
@pytest.mark.parametrize(
    "program",
    [
        "require('path').join(pkg.root(), 'x');",
        "new URL(pkg.url());",
        "require('fs').readFileSync(`${pkg.folder()}/x`);",
        "if (pkg.lt(process.version, '18')) process.exit(1);",
        "const options = { ...pkg.argv() }; options.db.url;",
        "(async () => { if (pkg.argv().port !== 80) throw new Error('bad port'); })();",
        "console.log(`${pkg.argv().port}`); JSON.parse(pkg.text() + '}');",
        "import * as all from 'pkg'; all.odd();",
    ],
)  # fmt: skip
def test_an_error_of_node_that_follows_from_a_value_is_a_limit(tmp_path, program):
    is_module = program.startswith("import ")
    known = "import pkg from 'pkg'; +pkg.x;\n" if is_module else "const pkg = require('pkg');\n"

    code, _, said = node(tmp_path, known + program, "main.mjs" if is_module else "main.js")

    assert code
    assert NPM_LIMIT in said


@needs_node
@pytest.mark.parametrize(
    "program",
    [
        "require('./gone');",
        "require('gone');",
        "require('fs').readFileSync('gone.json');",
        "fs.promises.readFile('gone.json').catch(error => { console.error(error.message); process.exit(1); });",
        "if (!require('fs').existsSync('public')) process.exit(1);",
        "try { require('fs').readFileSync('gone'); } catch { process.exit(2); }",
        "if (!process.env.DATABASE_URL) process.exit(1);",
        "process.env.DATABASE_URL.split(',');",
        "const at = process.env.DATABASE_URL; +pkg.x; if (!at) { console.error('no DATABASE_URL'); process.exit(1); }",
        "const at = process.env.DATABASE_URL; +pkg.x; if (!at) { pkg().error('no DATABASE_URL'); process.exit(1); }",
        "throw new Error('listen EACCES: permission denied 0.0.0.0:80');",
        "require('vm').runInThisContext('const a = ;');",
    ],
)  # fmt: skip
def test_what_an_answer_broke_counts_whatever_packages_gave(tmp_path, program):
    known = "const pkg = require('pkg'), fs = require('fs'); console.log(`${pkg.now() * 2}`);\n"

    code, _, said = node(tmp_path, known + program)

    assert code
    assert "stand-in" not in said


@needs_node
def test_a_program_that_only_calls_packages_and_then_ends_says_so_itself(tmp_path):
    program = (
        "const app = require('pkg')(); app.use(app); if (process.argv.length < 3) process.exit(2);"
    )

    assert node(tmp_path, program) == (2, "", "")


@needs_node
def test_a_module_finds_what_it_imports_by_name(tmp_path):
    source = (
        "import zod, { z as s, type T } from 'zod/v4';\nexport { a } from \"@x/y/z\";\n"
        "import * as dot from 'dotenv'; dot.config();\nimport { own } from './own.js';\n"
        "import {\n  Pool,\n  Client,\n} from 'pg'\nimport { join } from 'node:path'\n"
    )
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources/a.ts").write_text(source)
    names = imported_names([tmp_path / "sources"])
    assert names == {"@x/y": "a", "dotenv": "config", "pg": "Client Pool", "zod": "T z"}

    files = {
        "project/package.json": '{"type": "module", "dependencies": {"pg": "8", "dotenv": "16"}}',
        "project/a.js": "import { Pool } from 'pg';\nimport 'dotenv/config';\n"
        "console.log(process.env.GREETING, typeof Pool);",
        "project/.env": "GREETING=hi\n", "kept/npm": "", "kept/limit": "", "kept/module.js": JS,
        "kept/exports": "pg Client Pool\n",
    }  # fmt: skip
    env = f"export HOME={tmp_path} NODE_ENV=; "
    assert stood_in(tmp_path, "npm", files, env + "npm install && node a.js") == "hi function\n"


def python(tmp_path, program):
    """Run a program of Python with packages as where containers are looked at."""
    for package in ("pkg", "python-dotenv"):
        with zipfile.ZipFile(BytesIO(images.wheel(package, "1.0")[1])) as held:
            held.extractall(tmp_path / "site")
    (tmp_path / "app").mkdir()
    (tmp_path / "app/.env").write_text("# secret\nexport GREETING='hello world' # said\n")
    there = f"import os\nos.uname = lambda: type('', (), {{'nodename': '{images.OBSERVED}'}})\n"
    (tmp_path / "app/main.py").write_text(there + program)
    env = {one: held for one, held in os.environ.items() if one not in ("DATABASE_URL", "WORKERS")}
    done = subprocess.run(
        [sys.executable, "-S", "main.py"], cwd=tmp_path / "app", env={**env, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True, text=True, check=False, timeout=30,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "program",
    [
        "import json\njson.dumps({'a': pkg.get('x').headers.get('etag', '')})",
        "t = pkg.parse('5s'); f'{t:.2f} {t:d} {t!r} {t}'; int(t) + float(t) + t * 2 - 1; '%s %d' % (t, t)",
        "a, b = pkg.pair(); sorted([a, b]); {a: 1}[a]; list(pkg.rows()); dict(**pkg.rows()); a['x'][0].y",
        "import os.path\nos.path.join('/x', pkg.name()); ''.join([pkg.name()]); pkg.name().encode()[0]",
        "class A(pkg.B):\n    port: int = 1\n    def run(self): return self.port + self.n\nassert A(n=2).run() == 3",
        "from abc import ABC\nclass Mine(pkg.Base, ABC): pass\nMine.objects.all(); isinstance(Mine(), pkg.Thing)",
        "try: raise KeyError\nexcept pkg.OddError: pass\nexcept KeyError: pass",
        "import asyncio\nasync def main():\n    async with pkg.S() as s: await s.x\nasyncio.run(main())",
        "@pkg.command()\ndef main(port): pass\nimport sys\nsys.exit(main())",
        "from typing import Optional\ndef f(a: pkg.A | None, b: Optional[pkg.B], c: list[pkg.C]): pass",
        "from dotenv import load_dotenv\nload_dotenv()\nassert os.environ['GREETING'] == 'hello world'",
    ],
)  # fmt: skip
def test_a_program_of_python_goes_on_with_what_its_packages_give(tmp_path, program):
    code, _, said = python(tmp_path, f"import pkg\n{program}\n")

    assert (code, said) == (0, "")


@pytest.mark.parametrize(
    "program",
    [
        "import datetime\ndatetime.timedelta(seconds=pkg.t())",
        "open(f'{pkg.folder()}/x')",
        "import sys\nif pkg.lt('1', '2'): sys.exit(1)",
        "if pkg.is_old(): raise RuntimeError('too old')",
        "import socket\nsocket.socket().bind(('', int(pkg.port)))",
    ],
)
def test_an_error_of_python_that_follows_from_a_value_is_a_limit(tmp_path, program):
    code, _, said = python(tmp_path, f"import pkg\n{program}\n")

    assert code
    assert said.endswith(PIP_LIMIT)


@pytest.mark.parametrize(
    "program",
    [
        "import gone",
        "open('gone.toml')",
        "import logging, sys\ntry: open('gone')\nexcept OSError:\n    logging.exception('no'); sys.exit(1)",
        "import sys\nif not os.path.exists('static'): sys.exit(3)",
        "os.environ['DATABASE_URL']",
        "int(os.environ.get('WORKERS'))",
        "import sys\nurl = os.getenv('DATABASE_URL'); int(pkg.x)\nif not url: sys.exit('DATABASE_URL is missing')",
        "import argparse\nargparse.ArgumentParser().parse_args(['--odd'])\n",
        "exec('def x(:')",
    ],
)
def test_what_an_answer_broke_counts_whatever_packages_of_python_gave(tmp_path, program):
    known = "import pkg\nint(pkg.x())\nos.environ.get('WORKERS')\n"

    code, _, said = python(tmp_path, f"{known}{program}\n")

    assert code
    assert "stand-in" not in said
