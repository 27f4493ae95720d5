"""
The axes of a positive case, each a value in [0, 1].

The images are read in the Dockerfile. All else is what was seen when the answer was built and started; of an answer
that was not built nothing was seen, and these axes are 0.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .dockerfile.parser import parse
from .dockerfile.reference import FREE_TAGS, Reference
from .dockerfile.stages import SCRATCH, borrowed, is_root, resolve
from .expected import ROOTS, ArgvPattern, TiedArgv
from .forms import ANY, accepts, named
from .project import DOCKERFILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from .dockerfile.stages import Build, Config, Stage
    from .expected import Expected, FileRule

HALF_CHECK: Final = 0.5
"""Credit for a health check that was dropped: one can still be configured when the container is started."""

NEVER_ASKED: Final = (2, 125, 126, 127)
"""Exits of a health check that did not begin."""

IMAGE, RUNTIME, MINIMAL = FAMILIES = ("image_match", "runtime_equivalence", "minimality")
"""Groups of axes that the breakdown sums up."""


class Axis(NamedTuple):
    """
    What an axis means for the score.

    :param weight: hundredths of the score of a positive case.
    :param code: the failure mode below 1.
    :param required: it must be 1 for ``passed``.
    :param starts: below 1 the image cannot be built or started, and the score is halved.
    """

    weight: int
    family: str
    code: str
    required: bool = True
    starts: bool = False


AXES: Final = MappingProxyType(
    {
        "final_image": Axis(18, IMAGE, "final_image_not_allowed"),
        "build_images": Axis(5, IMAGE, "build_image_not_allowed", starts=True),
        "runs": Axis(11, RUNTIME, "does_not_run", starts=True),
        "argv": Axis(20, RUNTIME, "argv_wrong", starts=True),
        "user": Axis(10, RUNTIME, "user_wrong"),
        "files_carried": Axis(9, RUNTIME, "file_missing", starts=True),
        "packages": Axis(5, RUNTIME, "package_missing"),
        "ports": Axis(4, RUNTIME, "ports_wrong"),
        "healthcheck": Axis(3, RUNTIME, "healthcheck_lost", required=False),
        "settings_kept": Axis(3, RUNTIME, "setting_lost"),
        "no_shell": Axis(6, MINIMAL, "shell_in_final_image"),
        "no_needless_package": Axis(3, MINIMAL, "package_needless", required=False),
        "nothing_left_over": Axis(3, MINIMAL, "file_left_over", required=False),
    }
)

READ: Final = tuple(name for name, axis in AXES.items() if axis.family == IMAGE)
"""The axes for which no build is needed; for all others the answer is built and started."""

_NO_USER: Final = ("unable to find user", "uids and gids must be in range")
_BRACES: Final = re.compile(r"\$\{(\w+)\}")
_SHELLS: Final = ("ash", "bash", "dash", "sh")
_INTERPRETER: Final = re.compile(r"(?:python|ruby|node|perl|php)[\d.]*|(?:a|ba|da)?sh")


@dataclass(frozen=True)
class Answer:
    """
    A migrated project, what its case expects, and what was seen of it.

    :param before: the files as given.
    :param after: the files as returned.
    :param seen: the observation.
    """

    build: Build
    expected: Expected
    before: Mapping[str, str]
    after: Mapping[str, str]
    seen: Mapping[str, Any]

    @property
    def built(self) -> bool:
        """Whether the image was built; a negative is not asked about."""
        return bool(self.seen.get("built")) or self.seen.get("asked") is False

    @property
    def final(self) -> Stage:
        """The stage that becomes the image."""
        return self.build.final

    @property
    def given(self) -> Config:
        """What the given Dockerfile sets, with the target and the arguments of the case."""
        given = parse(self.before[DOCKERFILE])
        return resolve(given, self.expected.target, self.expected.build_args).final.config

    def listed(self, key: str) -> list[Any]:
        """Return a list of the observation; what is empty was not kept."""
        return list(self.seen.get(key, ()))


def axes(answer: Answer) -> dict[str, float]:
    """Return every axis in [0, 1]; ``final_image`` is the credit that the case gives."""
    expected = answer.expected
    read = {
        "final_image": expected.final_images.get(image_of(answer), 0.0),
        "build_images": _share(_allowed(base, expected) for base in _others(answer)),
    }
    if not answer.built:
        return dict.fromkeys(AXES, 0.0) | read
    return read | {
        "runs": float(not faults_of_start(answer)),
        "argv": float(right_command(answer)),
        "user": float(right_user(answer)),
        "files_carried": _rest(answer.listed("lacks"), expected.files),
        "packages": _rest(answer.listed("needs"), expected.packages),
        "ports": _share(obeyed_ports(answer).values()),
        "healthcheck": healthcheck(answer),
        "settings_kept": _share(kept_settings(answer).values()),
        "no_shell": float(not answer.listed("shells")),
        "no_needless_package": float(not answer.listed("needless")),
        "nothing_left_over": float(not answer.listed("left")),
    }


def migrated(answer: Answer) -> float:
    """Return which share of the base images that the build needs are Chainguard's."""
    stages = [one for one in answer.build.built if not one.parent and one.base != SCRATCH]
    helpers, bases = answer.expected.helper_images, [one.reference for one in stages]
    found = (one is not None and (one.chainguard or one.full_name in helpers) for one in bases)
    return _share(found) if bases else 0.0


def image_of(answer: Answer) -> str:
    """Return the base image of the final stage, with an explicit tag."""
    reference = answer.final.reference
    return reference.text if reference else answer.final.root_base


def refused_images(answer: Answer) -> tuple[str, ...]:
    """Return the images that are wrong, or that nobody can pull, among those that ``build_images`` looks at."""
    return tuple(base for base in _others(answer) if not _allowed(base, answer.expected))


def _others(answer: Answer) -> list[str]:
    """Return the base images but the final one, and those that files are copied from."""
    build, bottom = answer.build, answer.final.lineage[0]
    others = [one.base for one in build.built if not one.parent and one is not bottom]
    return others + [
        name for one in build.built for name in borrowed(one) if build.find(name, one) is None
    ]


def _allowed(base: str, expected: Expected) -> bool:
    if base == SCRATCH:
        return True
    reference = Reference.read(base)
    if reference is None or reference.digest:
        return False
    if not reference.chainguard:
        return reference.full_name in expected.helper_images
    owners = {one.rpartition("/")[0] for one in (*expected.final_images, *expected.build_images)}
    known = reference.name in expected.build_images or reference.owner in owners
    return known and (reference.tag in FREE_TAGS or not expected.free_tags)


def faults_of_start(answer: Answer) -> list[str]:
    """Return why the image does not do what it should once it is started."""
    seen, found = answer.seen, []
    if seen.get("exit") not in (None, 0):
        found.append(f"ends with {seen['exit']}: {seen.get('error', '')}")
    if seen.get("health") in NEVER_ASKED:
        found.append("the health check does not start")
    return found


def right_command(answer: Answer) -> bool:
    """Return whether the container starts what it should, of what its image allows: itself, or through a shell."""
    return any(
        _accepted(words, one, answer)
        for words in commands(answer.seen)
        for one in answer.expected.argv
    )


def _accepted(
    given: Sequence[str], wanted: tuple[str, ...] | TiedArgv | ArgvPattern, answer: Answer
) -> bool:
    if isinstance(wanted, ArgvPattern):
        return bool(re.fullmatch(wanted.pattern, shlex.join(given)))
    if isinstance(wanted, TiedArgv):
        return image_of(answer) in wanted.images and _same(given, wanted.words, answer)
    return _same(given, wanted, answer)


def commands(seen: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    """Yield the command as configured, what it is without a shell around it, and the processes that were there."""
    for words in (seen.get("argv", ()), *seen.get("ran", ())):
        yield words
        first = posixpath.basename(words[0]) if words else ""
        if len(words) == 3 and first in _SHELLS and words[1] == "-c":
            yield words[2].removeprefix("exec ").split()
        elif len(words) > 1 and _INTERPRETER.fullmatch(first) and words[1].startswith("/"):
            # As the kernel starts a script: its interpreter first.
            yield words[1:]


def _same(given: Sequence[str], wanted: Sequence[str], answer: Answer) -> bool:
    if len(given) != len(wanted) or not given:
        return False
    programs = {posixpath.basename(given[0]), posixpath.basename(wanted[0])}
    pairs = zip(given[1:], wanted[1:], strict=True)
    return len(programs) == 1 and all(_means(one, other, answer) for one, other in pairs)


def _means(given: str, wanted: str, answer: Answer) -> bool:
    """Return whether a word of a command is the one that is wanted, or the path of the same file."""
    path = posixpath.normpath(posixpath.join(answer.seen.get("folder", "/"), given))
    if answer.expected.must_move(wanted):
        return path.endswith(wanted.removeprefix(ROOTS))
    return wanted in (given, path)


def runs_as_root(answer: Answer) -> bool:
    """Return whether the container runs as root, as was seen, or as the Dockerfile says where it never ran."""
    uid = answer.seen.get("uid", -1)
    if uid >= 0:
        return bool(uid == 0)
    return is_root(answer.seen.get("user", "") if answer.built else answer.final.config.user)


def right_user(answer: Answer) -> bool:
    """Return whether the container's user is one that the case allows; one that does not exist starts nothing."""
    seen, expected = answer.seen, answer.expected
    if runs_as_root(answer):
        return expected.root_allowed
    if any(text in seen.get("error", "") for text in _NO_USER):
        return False
    names = {str(seen.get("uid", -1)), str(seen.get("user", "")).partition(":")[0]}
    return any(accepts(expected.users, name) for name in names)


def obeyed_ports(answer: Answer) -> dict[str, bool]:
    """Return whether EXPOSE is right, whether one of the ports is listened on, and whether files say the same."""
    seen, exposed = answer.seen, frozenset(answer.seen.get("exposed", ()))
    wanted = exposed if answer.expected.ports == ANY else answer.expected.ports
    held = {"EXPOSE": exposed in (wanted, *answer.expected.other_ports)}
    numbers = {port.partition("/")[0] for port in (exposed if held["EXPOSE"] else wanted)}
    if seen.get("ports") and numbers:
        held["listens"] = bool(numbers & set(map(str, seen["ports"])))
    rules = answer.expected.port_rules
    return held | _obeyed(rules, answer)


def healthcheck(answer: Answer) -> float:
    """Return 1 for a health check as the case expects it, :data:`HALF_CHECK` for none."""
    wanted, check = answer.expected.healthcheck, answer.seen.get("check", "")
    if wanted is None:
        return 1.0
    return float(bool(re.search(wanted, check))) if check else HALF_CHECK


def kept_settings(answer: Answer) -> dict[str, bool]:
    """Return for each variable, file content, working folder and platform whether it was kept."""
    expected, seen = answer.expected, answer.seen
    held = {name: name not in answer.listed("lost") for name in expected.env}
    held |= _obeyed(expected.file_rules, answer)
    folders = expected.folders(answer.given.workdir)
    if folders and seen.get("folder"):
        # The program may have gone to another folder than the one that is set, or through a link.
        here = (seen["folder"], seen.get("workdir"))
        none_set = not answer.final.config.workdir and not isinstance(folders, str)
        held["WORKDIR"] = any(accepts(folders, one) for one in (*here, "" if none_set else None))
    platforms = {_BRACES.sub(r"$\1", stage.platform) for stage in answer.build.built}
    for one in sorted(expected.platforms, key=named):
        held[f"--platform={named(one)}"] = any(accepts(one, written) for written in platforms)
    return held


def _obeyed(rules: Iterable[FileRule], answer: Answer) -> dict[str, bool]:
    """Return for each file that has to say something whether it does."""
    return {named(one.path): named(one.path) not in answer.listed("breaks") for one in rules}


def _rest(lost: Sequence[object], wanted: Sequence[object]) -> float:
    return 1 - len(lost) / len(wanted) if wanted else 1.0


def _share(held: Iterable[bool]) -> float:
    found = list(held)
    return sum(found) / len(found) if found else 1.0
