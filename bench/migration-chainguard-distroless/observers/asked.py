"""What a case has looked at in the image of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from _benchgate_bench.migration_chainguard_distroless.dockerfile.reference import Reference

from .standins.facts import facts_of

if TYPE_CHECKING:
    from _benchgate_bench.migration_chainguard_distroless.expected import Expected


def asked(expected: Expected) -> dict[str, Any]:
    """Return what is looked at, as JSON; an observation is of this and of the answer's files, and of nothing else."""
    # What a case seldom has is left out where it has it not: a key is what it was before there was such a thing.
    seldom = {"args": dict(sorted(expected.build_args.items())), "modes": dict(expected.modes)}
    return {
        **{key: held for key, held in seldom.items() if held},
        "target": expected.target,
        "files": sorted(expected.files),
        "needs": [[sorted(one.any_of), sorted(one.files)] for one in expected.packages],
        "allowed": sorted(expected.packages_allowed),
        "rules": [
            one.model_dump(mode="json") for one in (*expected.port_rules, *expected.file_rules)
        ],
        "env": dict(sorted(expected.env.items())),
        "unneeded": sorted(expected.unneeded),
        "shells": [] if expected.shell_needed else own_shells(expected),
        "shell_needed": expected.shell_needed,
    }


def own_shells(expected: Expected) -> list[str]:
    """Return the shells and package managers of the images that the case accepts in full."""
    found = set()
    for image, credit in expected.final_images.items():
        facts = facts_of(Reference.read(image)) if credit == 1 else None
        if facts and "busybox" in facts.shells:
            found |= {"bin/busybox", "bin/sh", "bin/ash"}
        if facts and "bash" in facts.shells:
            found |= {"bin/bash"}
        if facts and facts.apk:
            found |= {"usr/bin/apk"}
    return sorted(found)
