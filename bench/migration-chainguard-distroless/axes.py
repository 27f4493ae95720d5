"""The axes of a positive case: one function each, from a migrated project to a value in [0, 1]."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from .dockerfile.shell import packages_added
from .expected import FREE_TAGS
from .image.base_images import Reference
from .image.run_steps import held_packages, installed, step_commands
from .image.runnable import SHELL_PROGRAMS, build_problems, known, shells_copied, start_problems
from .image.runtime import is_root, sees_python_packages, starts, user_exists, user_of
from .image.stages import SCRATCH, borrowed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .expected import Expected, FileRule, Need
    from .image.files import Files
    from .image.stages import Stage

HALF_CHECK: Final = 0.5
"""Credit for a health check that was dropped: one can still be configured when the container is started."""

_SHELL_PACKAGES: Final = frozenset(SHELL_PROGRAMS) | {"apk-tools"}


@dataclass(frozen=True)
class Answer:
    """
    A migrated project and what its case expects.

    :param before: the files as given.
    :param after: the files as returned.
    """

    files: Files
    expected: Expected
    before: Mapping[str, str]
    after: Mapping[str, str]

    @property
    def final(self) -> Stage:
        """The stage that becomes the image."""
        return self.files.build.final


def axes(answer: Answer) -> dict[str, float]:
    """Return every axis in [0, 1]."""
    return {
        "final_image": final_image(answer),
        "build_images": build_images(answer),
        "argv": float(starts(answer.final, answer.files, answer.expected.argv)),
        "user": float(right_user(answer)),
        "files_carried": files_carried(answer),
        "commands_can_run": float(not problems(answer)),
        "packages": packages(answer),
        "ports": ports(answer),
        "healthcheck": healthcheck(answer),
        "settings_kept": settings_kept(answer),
        "no_shell": float(no_shell(answer)),
        "no_needless_package": float(not needless_packages(answer)),
        "nothing_left_over": float(not left_over(answer)),
        "packages_known": float(not unknown_packages(answer)),
    }


def migrated(answer: Answer) -> float:
    """Return which share of the base images that the build needs are Chainguard's."""
    bases = [stage.reference for stage in answer.files.build.built if not stage.parent]
    found = [base is not None and base.chainguard for base in bases]
    return sum(found) / len(found)


def final_image(answer: Answer) -> float:
    """Return the credit that the case gives for the base image of the final stage."""
    reference = answer.final.reference
    return answer.expected.final_images.get(reference.text, 0.0) if reference else 0.0


def build_images(answer: Answer) -> float:
    """Return the share of accepted images among the other base images and those that files are copied from."""
    build = answer.files.build
    bottom = build.final.lineage[0]
    others = [stage.base for stage in build.built if not stage.parent and stage is not bottom]
    lent = [
        name for stage in build.built for name in borrowed(stage) if build.find(name, stage) is None
    ]
    return _share(_allowed(base, answer.expected) for base in [*others, *lent])


def _allowed(base: str, expected: Expected) -> bool:
    reference = Reference.read(base)
    if base == SCRATCH:
        return True
    if reference is None or reference.digest or reference.name not in expected.build_images:
        return False
    return reference.full_tag in FREE_TAGS or not expected.free_tags


def right_user(answer: Answer) -> bool:
    """Return whether the container's user exists in the image and is one that the case allows."""
    user, expected = answer.final.config.user, answer.expected
    if is_root(user):
        return expected.root_allowed
    allowed = expected.users is None or user_of(user) in expected.users
    return allowed and user_exists(answer.final)


def files_carried(answer: Answer) -> float:
    """Return the share of the needed files that are in the final image."""
    files, final, expected = answer.files, answer.final, answer.expected
    held = [files.has(final, path) for path in expected.files]
    if expected.python_packages:
        held.append(sees_python_packages(final, files))
    return _share(held)


def problems(answer: Answer) -> list[str]:
    """Return why commands cannot run, at build time and at run time."""
    return build_problems(answer.files.build) + start_problems(answer.final, answer.files)


def packages(answer: Answer) -> float:
    """Return the share of the needed system packages that are in the final image."""
    held = held_packages(answer.final)
    targets = _copied_paths(answer)
    return _share(_met(need, held, targets) for need in answer.expected.packages)


def _met(need: Need, held: Iterable[str], targets: Iterable[str]) -> bool:
    by_copy = any(part in path for part in need.files for path in targets)
    return bool(set(need.any_of) & set(held)) or by_copy


def _copied_paths(answer: Answer) -> list[str]:
    steps = answer.final.all_steps
    return [word for step in steps if step.name == "COPY" for word in step.words[:-1]]


def ports(answer: Answer) -> float:
    """Return the share of port checks that pass: the exposed ports, and each rule about a configuration file."""
    exposed = answer.final.config.ports == answer.expected.ports
    return _share([exposed, *(_obeyed(answer, rule) for rule in answer.expected.port_rules)])


def _obeyed(answer: Answer, rule: FileRule) -> bool:
    text = answer.files.text(answer.final, rule.path) or ""
    found = all(re.search(pattern, text) for pattern in rule.must)
    return found and not any(re.search(pattern, text) for pattern in rule.must_not)


def healthcheck(answer: Answer) -> float:
    """Return 1 for a health check as the case expects it, :data:`HALF_CHECK` for none."""
    wanted, check = answer.expected.healthcheck, answer.final.config.healthcheck
    if wanted is None:
        return 1.0
    if check is None:
        return HALF_CHECK
    return float(bool(re.search(wanted, " ".join(check.argv))))


def settings_kept(answer: Answer) -> float:
    """Return the share of settings that were kept: variables and file contents of the image, platforms of stages."""
    env, expected = answer.final.config.env, answer.expected
    platforms = {stage.platform for stage in answer.files.build.built}
    held = [env.get(name) == value for name, value in expected.env.items()]
    held += [_obeyed(answer, rule) for rule in expected.file_rules]
    return _share([*held, *(one in platforms for one in sorted(expected.platforms))])


def no_shell(answer: Answer) -> bool:
    """Return whether the final image has no shell and no package manager but those of an accepted base image."""
    if answer.expected.shell_needed:
        return True
    final = answer.final
    facts = known(final)
    if facts is None or shells_copied(final, answer.files.build):
        return False
    bare = not facts.shells and not facts.apk
    return (bare or final_image(answer) == 1.0) and not installed(final) & _SHELL_PACKAGES


def needless_packages(answer: Answer) -> frozenset[str]:
    """Return the packages installed in the final stage that the container does not need."""
    needed = {name for need in answer.expected.packages for name in need.any_of}
    return installed(answer.final) - needed - answer.expected.packages_allowed


def left_over(answer: Answer) -> frozenset[str]:
    """Return the files of the build context that are in the final image and must not be."""
    held = answer.files.contents(answer.final).values()
    return answer.expected.unneeded & frozenset(held)


def unknown_packages(answer: Answer) -> frozenset[str]:
    """Return the packages that ``apk add`` names and that, by the case's list, the public recipes do not have."""
    added = {
        name
        for stage in answer.files.build.built
        for _, words in step_commands(stage)
        for name in packages_added(words)
    }
    return answer.expected.not_packages & added


def _share(held: Iterable[bool]) -> float:
    found = list(held)
    return sum(found) / len(found) if found else 1.0
