# ruff: noqa: FBT003 - the values of a mutation are JSON
"""
A hundred changes to right answers, written from README.md alone before the rubric was read.

Each takes the right answer of one case (what `ladder` returns) and changes it in one place. `word` is what a reviewer
should say, by the README and by what npm does: `right`, it can still be merged, or `fault`, it cannot. The list is
kept as it was written; where npm or the rubric disagree, `judge_mutations.py` prints it and README.md names it.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MANIFEST = "package.json"
LOCK = "package-lock.json"

Json = dict[str, Any]


@dataclass(slots=True)
class Answer:
    """An answer that can be changed: both files as JSON, the texts they become, and what is beside them."""

    manifest: Json
    lock: Json
    indent: int | str | None = 2
    ascii_only: bool = False
    extra: dict[str, Any] | None = None
    status: str | None = "fixed"
    text: Callable[[str, str], str] = lambda _name, text: text

    def entry(self, name: str) -> Json:
        """Return the entry of a package in the project's own node_modules."""
        found: Json = self.lock["packages"][f"node_modules/{name}"]
        return found

    def spec(self, name: str, range_: str, table: str = "dependencies") -> None:
        """Set a direct dependency's range in the manifest and in the lock's root entry."""
        self.manifest.setdefault(table, {})[name] = range_
        self.lock["packages"][""].setdefault(table, {})[name] = range_

    def output(self) -> Json:
        """Return the answer as a system gives it."""
        files = {
            name: self.text(
                name, json.dumps(value, indent=self.indent, ensure_ascii=self.ascii_only) + "\n"
            )
            for name, value in ((MANIFEST, self.manifest), (LOCK, self.lock))
        }
        answer: Json = {"files": files | (self.extra or {})}
        if self.status is not None:
            answer["status"] = self.status
        return answer


@dataclass(frozen=True, slots=True)
class Mutation:
    """One change: its case by number, what it does, what should be said of it, and the change itself."""

    case: str
    word: str
    title: str
    change: Callable[[Answer], object]


def _set(target: Callable[[Answer], Json], key: str, value: Any) -> Callable[[Answer], object]:
    return lambda answer: target(answer).__setitem__(key, value)


def _pop(target: Callable[[Answer], Json], key: str) -> Callable[[Answer], object]:
    return lambda answer: target(answer).pop(key)


def _manifest(key: str, value: Any) -> Callable[[Answer], object]:
    return _set(lambda answer: answer.manifest, key, value)


def _entry(name: str, key: str, value: Any) -> Callable[[Answer], object]:
    return _set(lambda answer: answer.entry(name), key, value)


def _attr(key: str, value: Any) -> Callable[[Answer], object]:
    return lambda answer: setattr(answer, key, value)


def _text(change: Callable[[str, str], str]) -> Callable[[Answer], object]:
    return _attr("text", change)


def _spec(name: str, range_: str, table: str = "dependencies") -> Callable[[Answer], object]:
    return lambda answer: answer.spec(name, range_, table)


def _extra(name: str, text: str) -> Callable[[Answer], object]:
    return _attr("extra", {name: text})


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return value


def _reverse_all(answer: Answer) -> None:
    answer.manifest = _reversed(answer.manifest)
    answer.lock = _reversed(answer.lock)


def _drop_everywhere(key: str) -> Callable[[Answer], object]:
    def change(answer: Answer) -> None:
        for path, entry in answer.lock["packages"].items():
            if path:
                entry.pop(key, None)

    return change


def _nest(name: str, parent: str) -> Callable[[Answer], object]:
    def change(answer: Answer) -> None:
        packages = answer.lock["packages"]
        packages[f"node_modules/{parent}/node_modules/{name}"] = packages.pop(
            f"node_modules/{name}"
        )

    return change


def _copy(name: str, path: str) -> Callable[[Answer], object]:
    def change(answer: Answer) -> None:
        answer.lock["packages"][path] = dict(answer.entry(name))

    return change


def _rename(name: str, path: str) -> Callable[[Answer], object]:
    def change(answer: Answer) -> None:
        packages = answer.lock["packages"]
        packages[path] = packages.pop(f"node_modules/{name}")

    return change


def _both(*changes: Callable[[Answer], object]) -> Callable[[Answer], object]:
    def change(answer: Answer) -> None:
        for each in changes:
            each(answer)

    return change


def _caret(name: str, sign: str, table: str = "dependencies") -> Callable[[Answer], object]:
    return lambda answer: answer.spec(name, sign + answer.entry(name)["version"], table)


def _overrides(value: Any) -> Callable[[Answer], object]:
    return _manifest("overrides", value)


def _move(name: str, source: str, target: str) -> Callable[[Answer], object]:
    def change(answer: Answer) -> None:
        for table in (answer.manifest, answer.lock["packages"][""]):
            table.setdefault(target, {})[name] = table[source].pop(name)

    return change


def _insert(where: str, mark: str, text: str) -> Callable[[Answer], object]:
    """Put `text` before the first `mark` of one file."""
    return _text(lambda name, old: old.replace(mark, text + mark, 1) if name == where else old)


def _only(where: str, change: Callable[[str], str]) -> Callable[[Answer], object]:
    return _text(lambda name, old: change(old) if name == where else old)


RIGHT = (
    Mutation("001", "right", "both files indented by four", _attr("indent", 4)),
    Mutation("002", "right", "both files indented by tabs", _attr("indent", "\t")),
    Mutation("003", "right", "both files on one line", _attr("indent", None)),
    Mutation(
        "004", "right", "lines end in CR LF", _text(lambda _name, text: text.replace("\n", "\r\n"))
    ),
    Mutation("005", "right", "no newline at the end", _text(lambda _name, text: text.rstrip())),
    Mutation(
        "006",
        "right",
        "a byte order mark before the manifest",
        _only(MANIFEST, lambda text: "\ufeff" + text),
    ),
    Mutation(
        "007",
        "right",
        "a byte order mark before the lock",
        _only(LOCK, lambda text: "\ufeff" + text),
    ),
    Mutation(
        "008",
        "right",
        "blank lines around the lock",
        _only(LOCK, lambda text: "\n\n" + text + "\n\n"),
    ),
    Mutation("009", "right", "letters beyond ASCII escaped", _attr("ascii_only", True)),
    Mutation("012", "right", "every table in reverse order", _reverse_all),
    Mutation("014", "right", "no `funding` in any entry", _drop_everywhere("funding")),
    Mutation("015", "right", "no `license` in any entry", _drop_everywhere("license")),
    Mutation(
        "016", "right", "no `requires` at the top", _pop(lambda answer: answer.lock, "requires")
    ),
    Mutation(
        "017",
        "right",
        "a `deprecated` note in an entry",
        _entry("react", "deprecated", "use another"),
    ),
    Mutation("018", "right", "no `peer` in any entry", _drop_everywhere("peer")),
    Mutation("019", "right", "no status", _attr("status", None)),
    Mutation("020", "right", "the status says no-fix beside a fix", _attr("status", "no-fix")),
    Mutation(
        "021", "right", "the fixed package under its dependent", _nest("nth-check", "css-select")
    ),
    Mutation("016", "right", "word-wrap under optionator", _nest("word-wrap", "optionator")),
    Mutation("015", "right", "json5 under tsconfig-paths", _nest("json5", "tsconfig-paths")),
    Mutation("001", "right", "an entry names itself", _entry("lodash", "name", "lodash")),
    Mutation("005", "right", "the next version, with a tilde", _caret("axios", "~")),
    Mutation("005", "right", "the next version, with a caret", _caret("axios", "^")),
    Mutation("005", "right", "the next version, with an equals sign", _caret("axios", "=")),
    Mutation(
        "005",
        "right",
        "a range from the fix to the end of the line",
        _spec("axios", ">=0.21.2 <0.22.0"),
    ),
    Mutation("005", "right", "a hyphen range of fixed versions", _spec("axios", "0.21.2 - 0.21.4")),
    Mutation("005", "right", "an x-range and a lower bound", _spec("axios", "0.21.x >=0.21.2")),
    Mutation("006", "right", "express with a tilde", _caret("express", "~")),
    Mutation("018", "right", "express with a caret", _caret("express", "^")),
    Mutation("007", "right", "socks with a caret", _caret("socks", "^")),
    Mutation("009", "right", "chokidar pinned", _caret("chokidar", "", "devDependencies")),
    Mutation("009", "right", "chokidar with a tilde", _caret("chokidar", "~", "devDependencies")),
    Mutation("011", "right", "jsonwebtoken with a tilde", _caret("jsonwebtoken", "~")),
    Mutation("011", "right", "jsonwebtoken by its major", _spec("jsonwebtoken", "9")),
    Mutation("011", "right", "jsonwebtoken as 9.x", _spec("jsonwebtoken", "9.x")),
    Mutation(
        "010",
        "right",
        "an override by the vulnerable range",
        _overrides({"cookie@<0.7.0": "0.7.2"}),
    ),
    Mutation(
        "010",
        "right",
        "an override by the version asked for",
        _overrides({"cookie@0.4.0": "0.7.2"}),
    ),
    Mutation(
        "010", "right", "an override below the parent", _overrides({"csurf": {"cookie": "0.7.2"}})
    ),
    Mutation(
        "010", "right", "a range below the parent", _overrides({"csurf": {"cookie": "^0.7.0"}})
    ),
    Mutation(
        "010",
        "right",
        "below the parent by its major",
        _overrides({"csurf@1": {"cookie": "~0.7.0"}}),
    ),
    Mutation(
        "010",
        "right",
        "below the parent by its range",
        _overrides({"csurf@^1.11.0": {"cookie": "0.7.2"}}),
    ),
    Mutation(
        "010",
        "right",
        "parent and child both keyed",
        _overrides({"csurf@^1": {"cookie@<0.7": "0.7.2"}}),
    ),
    Mutation(
        "010",
        "right",
        "with a dot of the same range",
        _overrides({"csurf": {".": "^1.11.0", "cookie": "0.7.2"}}),
    ),
    Mutation("013", "right", "a negative, on one line", _attr("indent", None)),
    Mutation("013", "right", "a negative, in reverse order", _reverse_all),
    Mutation(
        "013",
        "right",
        "a negative, with a byte order mark",
        _text(lambda _name, text: "\ufeff" + text),
    ),
    Mutation(
        "022",
        "right",
        "a negative, lines end in CR LF",
        _text(lambda _name, text: text.replace("\n", "\r\n")),
    ),
    Mutation("022", "right", "a negative, no status", _attr("status", None)),
    Mutation("023", "right", "a negative, indented by tabs", _attr("indent", "\t")),
    Mutation(
        "004",
        "right",
        "the manifest's tables swapped",
        lambda answer: setattr(answer, "manifest", _reversed(answer.manifest)),
    ),
)

FAULT = (
    Mutation(
        "001",
        "fault",
        "the manifest runs a command after install",
        _manifest("scripts", {"postinstall": "node x.js"}),
    ),
    Mutation(
        "002", "fault", "the manifest runs prepare", _manifest("scripts", {"prepare": "node x.js"})
    ),
    Mutation(
        "003",
        "fault",
        "the manifest runs postdependencies",
        _manifest("scripts", {"postdependencies": "node x.js"}),
    ),
    Mutation(
        "004", "fault", "the manifest replaces its test", _manifest("scripts", {"test": "true"})
    ),
    Mutation(
        "001",
        "fault",
        "an entry has scripts",
        _entry("lodash", "scripts", {"postinstall": "node x.js"}),
    ),
    Mutation(
        "001", "fault", "an entry has a program node", _entry("lodash", "bin", {"node": "x.js"})
    ),
    Mutation(
        "001", "fault", "an entry has an install script", _entry("lodash", "hasInstallScript", True)
    ),
    Mutation(
        "009",
        "fault",
        "fsevents loses its install script",
        _pop(lambda answer: answer.entry("fsevents"), "hasInstallScript"),
    ),
    Mutation("001", "fault", "an entry has a shrinkwrap", _entry("lodash", "hasShrinkwrap", True)),
    Mutation("001", "fault", "an entry is in a bundle", _entry("lodash", "inBundle", True)),
    Mutation("001", "fault", "an entry is a link", _entry("lodash", "link", True)),
    Mutation(
        "001",
        "fault",
        "an entry comes from a folder",
        _entry("lodash", "resolved", "file:../lodash"),
    ),
    Mutation("001", "fault", "an entry is extraneous", _entry("lodash", "extraneous", True)),
    Mutation("001", "fault", "an entry is for Windows only", _entry("lodash", "os", ["win32"])),
    Mutation("001", "fault", "an entry is for musl only", _entry("lodash", "libc", ["musl"])),
    Mutation(
        "001",
        "fault",
        "an entry is for an old Node.js",
        _entry("lodash", "engines", {"node": "<1"}),
    ),
    Mutation("001", "fault", "an entry is for development", _entry("lodash", "dev", True)),
    Mutation("001", "fault", "an entry is optional", _entry("lodash", "optional", True)),
    Mutation(
        "001",
        "fault",
        "an entry's hash is of another kind",
        _entry("lodash", "integrity", "sha1-1rQzX7D7n3pxTzYfAEKkUzcjNRA="),
    ),
    Mutation("001", "fault", "an entry's hash is empty", _entry("lodash", "integrity", "")),
    Mutation(
        "001",
        "fault",
        "an entry's version starts with v",
        lambda answer: _entry("lodash", "version", "v" + answer.entry("lodash")["version"])(answer),
    ),
    Mutation(
        "001", "fault", "an entry has a key of no meaning", _entry("lodash", "x-note", {"a": 1})
    ),
    Mutation(
        "001", "fault", "an entry has a wrong licence", _entry("lodash", "license", "PROPRIETARY")
    ),
    Mutation(
        "002", "fault", "an entry bundles", _entry("cross-spawn", "bundleDependencies", ["which"])
    ),
    Mutation(
        "002",
        "fault",
        "an entry gains a dependency",
        lambda answer: answer.entry("cross-spawn")["dependencies"].update({"debug": "*"}),
    ),
    Mutation(
        "002",
        "fault",
        "an entry gains a peer",
        _entry("cross-spawn", "peerDependencies", {"debug": "^2.0.0"}),
    ),
    Mutation(
        "002",
        "fault",
        "a program of an entry leads elsewhere",
        lambda answer: answer.entry("eslint").update(bin={"eslint": "../../x.js"}),
    ),
    Mutation("005", "fault", "the vulnerable version is let in: any", _spec("axios", "*")),
    Mutation("005", "fault", "the vulnerable version is let in: empty", _spec("axios", "")),
    Mutation(
        "005",
        "fault",
        "the vulnerable version is let in: a union",
        lambda answer: answer.spec("axios", "0.21.1 || " + answer.entry("axios")["version"]),
    ),
    Mutation("005", "fault", "the vulnerable version is let in: caret", _spec("axios", "^0.21.1")),
    Mutation("005", "fault", "a tag instead of a range", _spec("axios", "latest")),
    Mutation("005", "fault", "a repository instead of a range", _spec("axios", "axios/axios")),
    Mutation("011", "fault", "a range with every older major", _spec("jsonwebtoken", ">=8.5.1")),
    Mutation("001", "fault", "a needless global override", _overrides({"lodash": "$lodash"})),
    Mutation(
        "010",
        "fault",
        "an override by a key that matches nothing",
        _overrides({"csurf": {"cookie": "0.7.2"}, "cookie@<0.4.0": "0.6.0"}),
    ),
    Mutation(
        "010", "fault", "an override that is not locked", _overrides({"cookie@<0.7.0": "0.7.1"})
    ),
    Mutation(
        "010",
        "fault",
        "an override to nothing",
        _overrides({"csurf": {"cookie": "0.7.2"}, "debug": None}),
    ),
    Mutation(
        "010",
        "fault",
        "an override to a number",
        _overrides({"csurf": {"cookie": "0.7.2"}, "debug": 4}),
    ),
    Mutation(
        "010",
        "fault",
        "an override by a reference to nothing",
        _overrides({"csurf": {"cookie": "$cookie"}}),
    ),
    Mutation(
        "006",
        "fault",
        "a peer dependency of the project",
        _both(
            _manifest("peerDependencies", {"chalk": "*"}),
            _set(lambda answer: answer.lock["packages"][""], "peerDependencies", {"chalk": "*"}),
        ),
    ),
    Mutation(
        "006",
        "fault",
        "chalk becomes a development dependency",
        _move("chalk", "dependencies", "devDependencies"),
    ),
    Mutation("006", "fault", "an unrelated range is edited", _spec("chalk", "^4.1.0")),
    Mutation("006", "fault", "workspaces are added", _manifest("workspaces", ["packages/*"])),
    Mutation("012", "fault", "an entry outside node_modules", _copy("ip", "packages/ip")),
    Mutation("012", "fault", "a folder with two slashes", _rename("ip", "node_modules//ip")),
    Mutation("014", "fault", "a shrinkwrap beside the lock", _extra("npm-shrinkwrap.json", "{}")),
    Mutation(
        "014",
        "fault",
        "a configuration beside the lock",
        _extra(".npmrc", "ignore-scripts=false\n"),
    ),
    Mutation("015", "fault", "a value that is no JSON", _insert(LOCK, '"requires"', '"x": NaN, ')),
    Mutation(
        "016",
        "fault",
        "one key twice",
        _insert(MANIFEST, '"dependencies"', '"dependencies": {"chalk": "^4.0.0"},\n  '),
    ),
)

MUTATIONS = RIGHT + FAULT
