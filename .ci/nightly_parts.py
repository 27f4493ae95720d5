"""
Print which parts of .ci/nightly a change touches: ``python .ci/nightly_parts.py [BASE]``.

BASE is the commit that the change starts from; without it, where the branch left its upstream, or else the commit
before. Files that are not committed count too. ``--names`` prints the names of all parts.
"""

import subprocess
import sys

PARTS = {
    "examples": (
        "properties, with all the examples that hypothesis is allowed to try",
        ("src/benchgate/", "tests/unit/", "bench/migration-chainguard-distroless/"),
    ),
    "searches": (
        "tests marked nightly: long simulations, whole benches, big packages",
        (
            "src/benchgate/",
            "tests/",
            "bench/",
        ),
    ),
    "mutation": ("mutants of the rubrics, against their own tests", ("bench/", "tests/rubrics/")),
    "calibration": (
        "how often the gate errs: all counts of the page on error rates again",
        (
            "src/benchgate/statistics/",
            "src/benchgate/gates/",
            "src/benchgate/looks/",
            "benchmarks/calibration/",
        ),
    ),
    "faults": ("planted faults, which the tests must find", ("src/benchgate/", "tests/")),
}
"""Each part: what it does, and the paths, or beginnings of paths, whose change is a reason to run it."""


def touched(files: list[str]) -> dict[str, list[str]]:
    """Return the parts that a change of these files touches, each with those that do."""
    found = {
        name: [file for file in files if file.startswith(paths)]
        for name, (_, paths) in PARTS.items()
    }
    return {name: files for name, files in found.items() if files}


def git(*words: str) -> str | None:
    """Return what git prints, or None if it fails."""
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def base_of_the_change() -> str | None:
    """Return the commit that this branch started from, as far as git knows; None in a tree without history."""
    head = git("rev-parse", "HEAD")
    start = git("merge-base", "HEAD", "@{upstream}")
    if start and start != head:
        return start
    return git("rev-parse", "HEAD~1")


def main() -> None:
    """Print the names, or what the change touches."""
    if sys.argv[1:] == ["--names"]:
        print("\n".join(PARTS))
        return
    base = sys.argv[1] if len(sys.argv) > 1 else base_of_the_change()
    changed = git("diff", "--name-only", base) if base else None
    added = git("ls-files", "--others", "--exclude-standard")
    if changed is None or added is None:
        print(
            f"== .ci/nightly: nothing to compare with, so any part may be touched: {' '.join(PARTS)}"
        )
        return
    print(f"== .ci/nightly: parts that the change since {base[:10]} touches")
    parts = touched([*changed.splitlines(), *added.splitlines()])
    for name, files in parts.items():
        shown = files[:3]
        if len(files) > len(shown):
            shown.append("...")
        print(f"{name:12} {PARTS[name][0]} ({', '.join(shown)})")
    if not parts:
        print("none")


if __name__ == "__main__":
    main()
