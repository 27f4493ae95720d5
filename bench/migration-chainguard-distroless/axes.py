"""The axes of a positive case: one function each, from a migrated project to a value in [0, 1]."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from .dockerfile.directives import foreign_frontend
from .dockerfile.parser import parse
from .dockerfile.shell import packages_added
from .expected import FREE_TAGS
from .image.base_images import FACTS, Reference
from .image.build_needs import missing
from .image.compiled import link_problems
from .image.context import DOCKERFILE
from .image.owners import not_writable
from .image.python_packages import program_folders, sees_python_packages
from .image.rights import refusals
from .image.run_steps import held_packages, installed, step_commands
from .image.runnable import SHELL_PROGRAMS, build_problems, known, shells_copied, start_problems
from .image.runtime import is_root, starts, user_exists, user_of
from .image.stages import SCRATCH, borrowed, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .expected import Expected, FileRule, Need
    from .image.files import Files
    from .image.stages import Stage

HALF_CHECK: Final = 0.5
"""Credit for a health check that was dropped: one can still be configured when the container is started."""

_BRACES: Final = re.compile(r"\$\{(\w+)\}")
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
    def workdir(self) -> str:
        """The folder that the container must start in; empty if the case does not say and the given file sets none."""
        if self.expected.workdir or DOCKERFILE not in self.before:
            return self.expected.workdir
        given = resolve(parse(self.before[DOCKERFILE]), self.expected.target).final
        sets = any(step.name == "WORKDIR" for step in given.all_steps)
        return given.config.workdir if sets else ""

    @property
    def final(self) -> Stage:
        """The stage that becomes the image."""
        return self.files.build.final


def axes(answer: Answer) -> dict[str, float]:
    """Return every axis in [0, 1]."""
    return {
        "final_image": final_image(answer),
        "build_images": build_images(answer),
        "argv": float(right_command(answer)),
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
    bases = [
        stage.reference
        for stage in answer.files.build.built
        if not stage.parent and stage.base != SCRATCH
    ]
    found = [
        base is not None and (base.chainguard or _name(base) in answer.expected.helper_images)
        for base in bases
    ]
    return sum(found) / len(found) if found else 0.0


def final_image(answer: Answer) -> float:
    """Return the credit that the case gives for the base image of the final stage."""
    reference = answer.final.reference
    image = reference.text if reference else answer.final.root_base
    return answer.expected.final_images.get(image, 0.0)


def final_image_exists(answer: Answer) -> bool:
    """Return whether the base image of the final stage can be pulled, as far as that is known."""
    if answer.final.root_base in answer.expected.final_images:
        return True
    reference, expected = answer.final.reference, answer.expected
    if reference is None or reference.digest:
        return False
    if reference.text in expected.final_images or not reference.chainguard:
        return True
    return reference.full_tag in FREE_TAGS or not expected.free_tags


def right_command(answer: Answer) -> bool:
    """Return whether the container starts what it should, of what its image allows."""
    reference = answer.final.reference
    image = reference.text if reference else answer.final.root_base
    wanted = [
        one if isinstance(one, tuple) else one.words
        for one in answer.expected.argv
        if isinstance(one, tuple) or image in one.images
    ]
    folders = program_folders(answer.final, answer.files)
    return starts(answer.final, answer.files, wanted, folders)


def build_images(answer: Answer) -> float:
    """Return the share of accepted images among the other base images and those that files are copied from."""
    return _share(base not in refused_images(answer) for base in _others(answer))


def refused_images(answer: Answer) -> tuple[str, ...]:
    """Return the images that are wrong, or that nobody can pull, among those that :func:`build_images` looks at."""
    return tuple(base for base in _others(answer) if not _allowed(base, answer.expected))


def _others(answer: Answer) -> list[str]:
    build = answer.files.build
    bottom = build.final.lineage[0]
    others = [stage.base for stage in build.built if not stage.parent and stage is not bottom]
    lent = [
        name for stage in build.built for name in borrowed(stage) if build.find(name, stage) is None
    ]
    return [*others, *lent]


def _allowed(base: str, expected: Expected) -> bool:
    reference = Reference.read(base)
    if base == SCRATCH:
        return True
    if reference is None or reference.digest:
        return False
    if not reference.chainguard:
        return _name(reference) in expected.helper_images
    owners = {
        image.rpartition("/")[0] for image in (*expected.final_images, *expected.build_images)
    }
    known = reference.name in expected.build_images or (
        reference.image in FACTS and reference.name.rpartition("/")[0] in owners
    )
    return known and (reference.full_tag in FREE_TAGS or not expected.free_tags)


def _name(reference: Reference) -> str:
    """Return the name of an image with its registry, as Docker Hub's short names mean it."""
    first, slash, _ = reference.name.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return reference.name
    return f"docker.io/{reference.name}" if slash else f"docker.io/library/{reference.name}"


def right_user(answer: Answer) -> bool:
    """Return whether the container's user exists in the image and is one that the case allows."""
    user, expected = answer.final.config.user, answer.expected
    if is_root(user):
        return expected.root_allowed
    allowed = expected.users is None or user_of(user) in expected.users
    return allowed and user_exists(answer.final)


def files_carried(answer: Answer) -> float:
    """Return the share of the needed files that are in the final image."""
    return _share(carried(answer).values())


def carried(answer: Answer) -> dict[str, bool]:
    """Return for each needed file, and for the packages of Python, whether the container has it."""
    files, final, expected = answer.files, answer.final, answer.expected
    held = {path: files.has(final, path) for path in expected.files}
    if expected.python_packages:
        held["the packages of Python, where it looks"] = sees_python_packages(final, files)
    return held


def problems(answer: Answer) -> list[str]:
    """Return why commands cannot run, at build time and at run time."""
    files, final = answer.files, answer.final
    if foreign_frontend(answer.after[DOCKERFILE]):
        return ["another program reads the Dockerfile"]
    return [
        *build_problems(files.build),
        *missing(files.build, files, answer.expected.not_packages),
        *(problem for stage in files.build.built for problem in not_writable(stage)),
        *start_problems(final, files),
        *link_problems(final, files),
        *refusals(final, files, answer.expected.files),
    ]


def packages(answer: Answer) -> float:
    """Return the share of the needed system packages that are in the final image."""
    return _share(met_needs(answer).values())


def met_needs(answer: Answer) -> dict[str, bool]:
    """Return for each needed package, by its first name, whether it is there."""
    held = held_packages(answer.final)
    targets = _copied_paths(answer)
    return {need.any_of[0]: _met(need, held, targets) for need in answer.expected.packages}


def _met(need: Need, held: Iterable[str], targets: Iterable[str]) -> bool:
    by_copy = any(part in path for part in need.files for path in targets)
    return bool(set(need.any_of) & set(held)) or by_copy


def _copied_paths(answer: Answer) -> list[str]:
    steps = answer.final.all_steps
    return [word for step in steps if step.name == "COPY" for word in step.words[:-1]]


def ports(answer: Answer) -> float:
    """Return the share of port checks that pass: the exposed ports, and each rule about a configuration file."""
    return _share(obeyed_ports(answer).values())


def obeyed_ports(answer: Answer) -> dict[str, bool]:
    """Return whether EXPOSE is right, and for each configuration file with a rule whether it is."""
    rules = answer.expected.port_rules
    exposed = answer.final.config.ports == answer.expected.ports
    return {"EXPOSE": exposed, **{rule.path: _obeyed(answer, rule) for rule in rules}}


def _obeyed(answer: Answer, rule: FileRule) -> bool:
    text = answer.files.text(answer.final, rule.path) or ""
    if not rule.comments:
        text = re.sub(r"(?m)(?:^|\s)#.*$", "", text)
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
    return _share(kept_settings(answer).values())


def kept_settings(answer: Answer) -> dict[str, bool]:
    """Return for each setting whether it was kept."""
    env, expected = answer.final.config.env, answer.expected
    platforms = {_BRACES.sub(r"$\1", stage.platform) for stage in answer.files.build.built}
    held = {name: env.get(name) == value for name, value in expected.env.items()}
    held |= {rule.path: _obeyed(answer, rule) for rule in expected.file_rules}
    if answer.workdir:
        held["WORKDIR"] = answer.final.config.workdir == answer.workdir
    return held | {f"--platform={one}": one in platforms for one in sorted(expected.platforms)}


def no_shell(answer: Answer) -> bool:
    """Return whether the final image has no shell and no package manager but those of an accepted base image."""
    if answer.expected.shell_needed:
        return True
    final = answer.final
    facts = known(final)
    if shells_copied(final, answer.files.build):
        return False
    if facts is None:
        # Of an image that the table lacks nothing is known but what its tag says.
        reference = final.reference
        own = reference is not None and reference.chainguard and not reference.tag.endswith("-dev")
        return own and not installed(final) & _SHELL_PACKAGES
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
