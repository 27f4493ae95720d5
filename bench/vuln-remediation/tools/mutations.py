"""Seeded changes to an answer, key by key: of the lock, of the manifest, of both, and of the texts."""

from __future__ import annotations

import copy
import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.vuln_remediation.lockfile import ROOT_TABLES
from _benchgate_bench.vuln_remediation.project import LOCK, MANIFEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Answer = dict[str, Any]

RAN: Final = "node -e \"require('fs').appendFileSync(process.env.INIT_CWD+'/ran','mutant\\n')\""

SCRIPTS: Final = (
    "preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare", "predependencies",
    "dependencies", "postdependencies", "test", "prepack",
)  # fmt: skip

ENTRY_KEYS: Final = (
    "scripts", "bin", "hasInstallScript", "gypfile", "resolved", "link", "inBundle", "bundled", "extraneous", "os",
    "cpu", "libc", "engines", "dev", "optional", "devOptional", "peer", "dependencies", "devDependencies",
    "optionalDependencies", "peerDependencies", "peerDependenciesMeta", "bundleDependencies", "bundledDependencies",
    "acceptDependencies", "overrides", "workspaces", "name", "version", "integrity", "_id", "_resolved", "_integrity",
    "directories", "hasShrinkwrap", "_hasShrinkwrap", "deprecated", "funding", "license", "requires", "ideallyInert",
    "installLinks", "main", "x-unknown",
)  # fmt: skip
"""Keys that some version of npm reads of a lock entry or a manifest, and one that none does."""

SPECS: Final = (
    "*", "", ">=0", "x", "latest", "next", "1", "^1.0.0", "~1.0.0", ">=1", "<2", "1.0.0 || 1.0.1", "1.0.0 - 1.0.1",
    "^1.0.1", "=1.0.1", "v1.0.1", " 1.0.1 ", "1.0.1-rc.1", "npm:leaf@1.0.0", "npm:leaf@^1.0.1", "file:../x",
    "git+ssh://git@host.invalid/a.git", "host/a", "workspace:*", "https://host.invalid/a.tgz", "not a range",
)  # fmt: skip

ODD: Final[tuple[Any, ...]] = (
    True, False, None, 0, 1, -1, 1.5, "", "x", [], {}, ["x"], {"x": "y"}, {"x": {}}, [[]], "../x", "__proto__",
)  # fmt: skip

FILES: Final = (
    ("npm-shrinkwrap.json", '{"lockfileVersion": 3, "packages": {"": {}}}'),
    (".npmrc", "omit=dev\n"), (".npmrc", "ignore-scripts=true\n"), ("binding.gyp", "{}"), ("a.txt", "a"),
    ("node_modules/leaf/package.json", "{}"), ("packages/a/package.json", '{"name": "a", "version": "1.0.0"}'),
)  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """
    A changed answer.

    :param title: what was changed, in words.
    :param files: the files as texts.
    """

    title: str
    files: Mapping[str, str]


def mutants(answer: Mapping[str, Any], seed: int, label: str) -> Iterator[Mutant]:
    """
    Yield changed answers without end, the same for the same seed and label.

    :param answer: manifest and lock as JSON.
    """
    rng = random.Random(f"{seed} {label}")  # noqa: S311 - a choice, no secret
    while True:
        held = copy.deepcopy(dict(answer))
        rewrite: list[tuple[str, Callable[[str], str]]] = []
        titles = [_KINDS[rng.choice(_KINDS_DRAWN)](rng, held, rewrite)]
        if rng.random() < 0.15 and _is_whole(held):
            titles.append(_KINDS[rng.choice(_KINDS_DRAWN)](rng, held, rewrite))
        texts = {
            name: value if isinstance(value, str) else json.dumps(value, indent=2) + "\n"
            for name, value in held.items()
        }
        for name, change in rewrite:
            texts[name] = change(texts[name])
        yield Mutant("; ".join(titles), texts)


def _is_whole(held: Answer) -> bool:
    """Return whether an answer can be changed once more: its tables are still tables."""
    packages = held[LOCK].get("packages")
    tables = [packages, *packages.values()] if isinstance(packages, dict) else [packages]
    return (
        all(isinstance(table, dict) for table in tables)
        and "" in packages
        and all(
            isinstance(one.get(name, {}), dict)
            for one in (held[MANIFEST], packages[""])
            for name in ROOT_TABLES
        )
    )


def _value(rng: random.Random, key: str, packages: Mapping[str, Any]) -> Any:
    names = sorted({path.rpartition("node_modules/")[2] for path in packages if path})
    one = rng.choice(names)
    if rng.random() < 0.25:
        return rng.choice(ODD)
    if key in ROOT_TABLES or key == "acceptDependencies":
        return {one: rng.choice(SPECS)}
    if key == "overrides":
        return _overrides(rng, names)
    others = [entry[key] for entry in packages.values() if key in entry]
    made: dict[str, Any] = {
        "scripts": {rng.choice(SCRIPTS): RAN},
        "bin": {rng.choice(["node", "npm", "tool", one]): rng.choice(["cli.js", "../../x.js"])},
        "resolved": rng.choice(["file:../x", "https://host.invalid/x.tgz", "packages/a"]),
        "os": [rng.choice(["linux", "win32", "!linux", "any"])],
        "cpu": [rng.choice(["x64", "arm", "!x64"])],
        "libc": [rng.choice(["glibc", "musl"])],
        "engines": {rng.choice(["node", "npm"]): rng.choice([">=1", "<1", "*"])},
        "peerDependenciesMeta": {one: {"optional": rng.choice([True, False])}},
        "bundleDependencies": rng.choice([[one], True, False]),
        "bundledDependencies": [one],
        "workspaces": rng.choice([["packages/*"], ["."], {"packages": ["packages/*"]}]),
        "name": one,
        "version": rng.choice(["1.0.0", "1.0.1", "2.0.0", "v1.0.1", " 1.0.1", "1.0.1+b", "01.0.1"]),
        "integrity": rng.choice([*others, "", "sha1-AAAAAAAAAAAAAAAAAAAAAAAAAAA="]),
        "directories": {"bin": "."},
        "license": "X",
        "deprecated": "yes",
        "funding": {"url": "https://host.invalid"},
    }
    if others and rng.random() < 0.4:
        return copy.deepcopy(rng.choice(others))
    return made.get(key, True)


def _overrides(rng: random.Random, names: list[str]) -> Any:
    one, other = rng.choice(names), rng.choice(names)
    rule = rng.choice([rng.choice(SPECS), f"${one}", "1.0.1", "1.0.0"])
    key = rng.choice([one, f"{one}@^1.0.0", f"{one}@<1.0.1", f"{one}@1", f"{one}@*", f"{one}@"])
    return rng.choice(
        [{key: rule}, {other: {key: rule}}, {other: {".": rule}}, {key: rng.choice(ODD)}]
    )


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for key, held in value.items():
            yield (*path, key)
            yield from _places(held, (*path, key))
    elif isinstance(value, list):
        for at, held in enumerate(value):
            yield (*path, at)
            yield from _places(held, (*path, at))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _spot(rng: random.Random, held: Answer) -> tuple[str, tuple[Any, ...]]:
    name = rng.choice([MANIFEST, LOCK, LOCK])
    return name, rng.choice(list(_places(held[name])))


def _delete(rng: random.Random, held: Answer, _texts: list[Any]) -> str:
    name, path = _spot(rng, held)
    del _at(held[name], path[:-1])[path[-1]]
    return f"{name}: without {_shown(path)}"


def _replace(rng: random.Random, held: Answer, _texts: list[Any]) -> str:
    name, path = _spot(rng, held)
    old = _at(held[name], path)
    pool = [*ODD, *SPECS] if isinstance(old, str) and rng.random() < 0.7 else list(ODD)
    value = copy.deepcopy(rng.choice(pool))
    if rng.random() < 0.3 and path[-1] in ENTRY_KEYS:
        value = _value(rng, path[-1], held[LOCK].get("packages") or {"node_modules/x": {}})
    _at(held[name], path[:-1])[path[-1]] = value
    return f"{name}: {_shown(path)} = {json.dumps(value)}"


def _add_to_entry(rng: random.Random, held: Answer, _texts: list[Any]) -> str:
    packages = held[LOCK]["packages"]
    path = rng.choice(sorted(packages))
    key = rng.choice(ENTRY_KEYS)
    packages[path][key] = _value(rng, key, packages)
    return f"{LOCK}: {path or 'root'} {key} = {json.dumps(packages[path][key])}"


def _add_to_manifest(rng: random.Random, held: Answer, _texts: list[Any]) -> str:
    key = rng.choice(
        (*ENTRY_KEYS, "overrides", "overrides", "packageManager", "config", "type", "files")
    )
    packages = held[LOCK]["packages"]
    value = held[MANIFEST][key] = _value(rng, key, packages)
    both = rng.random() < 0.5
    if both:
        packages[""][key] = copy.deepcopy(value)
    return f"{MANIFEST}{' and root' if both else ''}: {key} = {json.dumps(value)}"


def _edit_both(rng: random.Random, held: Answer, _texts: list[Any]) -> str:
    packages = held[LOCK]["packages"]
    table = rng.choice(ROOT_TABLES)
    name = rng.choice(sorted({path.rpartition("node_modules/")[2] for path in packages if path}))
    locked = packages.get(f"node_modules/{name}", {}).get("version", "1.0.0")
    spec = rng.choice(
        [*SPECS, f"^{locked}", f"~{locked}", locked, f">={locked}", f"npm:{name}@{locked}"]
    )
    for held_table in (held[MANIFEST], packages[""]):
        held_table.setdefault(table, {})[name] = spec
    if rng.random() < 0.3:
        packages[f"node_modules/{name}"] = {**packages.get(f"node_modules/{name}", {}), "dev": True}
    return f"both: {table}.{name} = {spec!r}"


def _move_entry(rng: random.Random, held: Answer, _texts: list[Any]) -> str:
    packages = held[LOCK]["packages"]
    path = rng.choice(sorted(filter(None, packages)))
    other = rng.choice(sorted(packages))
    name = path.rpartition("node_modules/")[2]
    target = rng.choice(
        [f"{other}/node_modules/{name}", f"node_modules//{name}", f"./{path}", f"{path}/", f"packages/{name}",
         f"node_modules/{name.upper()}", f"../{name}", f"node_modules/{name}-other", f"node_modules/.{name}"]
    ).lstrip("/")  # fmt: skip
    keep = rng.random() < 0.5
    packages[target] = copy.deepcopy(packages[path]) if keep else packages.pop(path)
    return f"{LOCK}: {path} {'also ' if keep else ''}at {target}"


def _text(rng: random.Random, _held: Answer, texts: list[Any]) -> str:
    name = rng.choice([MANIFEST, LOCK])
    title, change = rng.choice(_TEXTS)
    texts.append((name, change))
    return f"{name}: {title}"


def _file(rng: random.Random, held: Answer, _texts: list[Any]) -> str:
    name, text = rng.choice(FILES)
    held[name] = text
    return f"{name} added"


def _shown(path: tuple[Any, ...]) -> str:
    return " > ".join(map(str, path)) or "all"


_TEXTS: Final[tuple[tuple[str, Callable[[str], str]], ...]] = (
    ("a byte order mark", lambda text: "\ufeff" + text),
    ("two byte order marks", lambda text: "\ufeff\ufeff" + text),
    ("CR LF", lambda text: text.replace("\n", "\r\n")),
    ("a comment", lambda text: "// a\n" + text),
    ("a trailing comma", lambda text: text.replace("\n}", ",\n}")),
    ("NaN", lambda text: text.replace("{", '{"x": NaN, ', 1)),
    ("Infinity", lambda text: text.replace("{", '{"x": -Infinity, ', 1)),
    ("a key twice", lambda text: text.replace("{", '{"name": "other", ', 1)),
    ("tables twice", lambda text: text.replace("{", '{"dependencies": {}, "packages": {}, ', 1)),
    (
        "__proto__",
        lambda text: text.replace("{", '{"__proto__": {"scripts": {"install": "x"}}, ', 1),
    ),
    ("one line", lambda text: json.dumps(json.loads(text))),
    ("a control character", lambda text: text.replace("{", '{"x": "\x01", ', 1)),
)

_KINDS: Final[Mapping[str, Callable[[random.Random, Answer, list[Any]], str]]] = {
    "delete": _delete,
    "replace": _replace,
    "entry": _add_to_entry,
    "manifest": _add_to_manifest,
    "both": _edit_both,
    "move": _move_entry,
    "text": _text,
    "file": _file,
}
_KINDS_DRAWN: Final = (
    "delete", "delete", "replace", "replace", "replace", "entry", "entry", "entry", "entry", "manifest", "manifest",
    "manifest", "both", "both", "move", "text", "file",
)  # fmt: skip
