"""Collectors and items of cases; :class:`~.session.BenchSession` loads the cases and runs the trials."""

from __future__ import annotations

import fnmatch
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, cast

import pytest

from benchgate.errors import BenchCaseLoadError, printable
from benchgate.pytest_plugin.item_outcome import (
    BenchCaseFailed,
    Obstacle,
    failure_text,
    properties,
    scorer_digest,
)
from benchgate.pytest_plugin.layout import BASELINE, CASE_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import pluggy

    from benchgate.models import BenchCase, Side, TrialResult
    from benchgate.pytest_plugin.session import BenchSession
    from benchgate.trials.executor import TrialRecord
    from benchgate.wire.usage import Usage


SESSION = pytest.StashKey["BenchSession"]()


class _HookedAtCases:
    """
    Looks up hooks at ``cases/``, not at the case folder.

    pytest knows conftests only for :class:`pytest.Directory` nodes, and a case folder is none: a lookup there would
    find no conftest, not even the root's.
    """

    session: pytest.Session
    parent: Any
    path: Path

    @cached_property
    def ihook(self) -> pluggy.HookRelay:
        """
        The hooks of the conftests at ``cases/`` and above, and of all plugins.

        Looked up once: pytest asks a dozen times for each item, and no conftest comes after collection.
        """
        for node in self.parent.iter_parents():
            if isinstance(node, CaseFile):
                return node.ihook
            if isinstance(node, CasesDirectory):
                return node.bench_hooks
        return self.session.gethookproxy(self.path.parents[1])


class CasesDirectory(pytest.Directory):
    """``bench/<class>/cases``."""

    @cached_property
    def bench_hooks(self) -> pluggy.HookRelay:
        """The hooks of its cases."""
        return self.session.gethookproxy(self.path)

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """
        Yield every case, sorted.

        Only --ignore and --ignore-glob leave one out. What else makes pytest skip a folder, such as the name
        ``build``, must not: the case would vanish from the counts.
        """
        session = self.config.stash.get(SESSION, None)
        if session is None:
            return
        inside = self.nodeid and self.path.is_relative_to(self.config.rootpath)
        prefix = f"{self.nodeid}/" if inside else ""
        for folder in session.case_folders(self.path):
            if self._ignored(folder):
                continue
            if prefix and session.selection.by_option:
                # No argument names a path below: nothing needs nodes in between.
                file_id = f"{prefix}{folder.name}/{CASE_FILE}"
                yield from items_of(self, folder / CASE_FILE, file_id)
            else:
                yield CaseDirectory.from_parent(self, name=folder.name, path=folder)

    def _ignored(self, folder: Path) -> bool:
        option = self.config.option
        if not (option.ignore or option.ignore_glob):
            return False
        skipped = self.config.getini("norecursedirs")
        if any(fnmatch.fnmatch(folder.name, pattern) for pattern in skipped):
            return False
        ignore = self.ihook.pytest_ignore_collect
        return bool(ignore(collection_path=folder, config=self.config))


class CaseDirectory(pytest.Collector):
    """
    One case folder. It yields its ``case.toml`` and nothing else.

    Not a :class:`pytest.Directory`: pytest would import a ``conftest.py`` in it.
    """

    def collect(self) -> Iterator[CaseFile]:
        """Yield the case file if the session was asked for it, also if it is missing."""
        path = self.path / CASE_FILE
        session = self.config.stash.get(SESSION, None)
        if session is not None and session.selection.asks_for(path):
            yield CaseFile.of(self, path)


class CaseFile(_HookedAtCases, pytest.File):
    """A ``case.toml``."""

    @classmethod
    def of(cls, parent: pytest.Collector, path: Path) -> CaseFile:
        """Make one whose id has its path: outside rootdir pytest would shorten it, and xdist sends only ids."""
        is_inside = path.is_relative_to(parent.config.rootpath)
        return cls.from_parent(parent, path=path, nodeid=None if is_inside else path.as_posix())

    def collect(self) -> Iterator[CaseItem]:
        """Yield its items."""
        return items_of(self, self.path, self.nodeid)


def items_of(parent: pytest.Collector, path: Path, file_id: str) -> Iterator[CaseItem]:
    """Yield an item for each trial; a malformed file gives items too, which fail when they are set up."""
    bench = parent.config.stash[SESSION]
    case_id = path.parent.name
    task_class = path.parents[2].name
    of_case: Any = {
        "path": path,
        "bench": bench,
        "task_class": task_class,
        "case_id": case_id,
        "loaded": bench.load(task_class, case_id),
    }
    for trial in range(bench.settings_of[task_class].trials):
        for side in bench.sides:
            name = case_id
            if side == "baseline":
                name += BASELINE
            if trial > 0:
                name += f"-t{trial}"
            of_trial: Any = {"trial": trial, "side": side}
            nodeid = f"{file_id}::{name}"
            yield CaseItem.from_parent(parent, name=name, nodeid=nodeid, **of_case, **of_trial)


# Most cases share their markers with others: made once, they take neither time nor memory for each.
@cache
def _kind(
    difficulty: str, disposition: str, source: str, held_out: bool, /
) -> pytest.MarkDecorator:
    return pytest.mark.bench_case(
        difficulty=difficulty, disposition=disposition, held_out=held_out, source=source
    )


@cache
def _limit(seconds: float) -> pytest.MarkDecorator:
    # func_only: the limit is on the trial, not on what other plugins set up around it. signal: the other
    # method ends the whole process.
    return pytest.mark.timeout(seconds, method="signal", func_only=True)


class CaseItem(_HookedAtCases, pytest.Item):
    """One trial of one case."""

    def __init__(
        self,
        *,
        bench: BenchSession,
        task_class: str,
        case_id: str,
        loaded: BenchCase | BenchCaseLoadError,
        trial: int,
        side: Side,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.case_id = case_id
        self.task_class = task_class
        self.bench = bench
        self.trial = trial
        self.bench_key = task_class, case_id, trial
        self.side: Side = side
        self.loaded = loaded
        self.result: TrialResult | None = None
        self.record: TrialRecord | None = None
        self.obstacle: Obstacle | None = None
        self.attempts = 0
        self.used: Usage | None = None
        self._mark()

    def _mark(self) -> None:
        """Set markers and keywords; a malformed case has no difficulty or disposition to select by."""
        case = self.loaded
        if isinstance(case, BenchCaseLoadError):
            self.add_marker(pytest.mark.bench_case())
            return
        self.extra_keyword_matches.update(case.tags)
        self.add_marker(_kind(case.difficulty, case.disposition, case.source, case.held_out))
        in_turn = self.bench.trials.service.in_turn(case.task_class)
        limit = self.bench.settings_of[case.task_class].limit(case)
        self.add_marker(_limit(limit if in_turn else 0))

    def setup(self) -> None:
        """Fail if the case cannot be run; clear an earlier attempt, whose properties would be added twice."""
        self.user_properties.clear()
        if self.result is not None:
            self.used = self.result.usage
        self.result = None
        self.record = None
        self.attempts += 1
        self.obstacle = self._obstacle()
        if self.obstacle is not None:
            self.user_properties.append(("bench.outcome", "not_run"))
            pytest.fail(self.obstacle.reason, pytrace=False)

    def _obstacle(self) -> Obstacle | None:
        if isinstance(self.loaded, BenchCaseLoadError):
            return Obstacle(self.loaded.describe(self.where().rpartition(":")[0]))
        return self.bench.obstacle(self.task_class, self.side)

    def runtest(self) -> None:
        """Run the trial."""
        self.record = record = self.bench.run(self)
        self.result = record.result
        self.user_properties.extend(properties(record.result, self.side))
        stopped = self.bench.trials.service.stopped(self.task_class)
        if stopped:
            raise pytest.skip.Exception(stopped, _use_item_location=True)
        if record.result.passed:
            return
        from benchgate.aggregate import is_capped
        from benchgate.artifacts.trial_kinds import case_file_name

        if is_capped(record.result):
            raise pytest.skip.Exception(str(record.result.detail), _use_item_location=True)
        if self.side == "candidate":
            meanings = self.bench.benches[self.task_class].taxonomy.meanings
            output = self.bench.folder_of(self.task_class) / "cases" / case_file_name(record.result)
            text = failure_text(record, meanings, self._shown, output)
            raise BenchCaseFailed(f"{text}\n{printable(self.where())}")

    @property
    def case(self) -> BenchCase:
        """The case; a malformed one has failed when it was set up."""
        return cast("BenchCase", self.loaded)

    def scored_by(self) -> str:
        """Return the digest of what scores the item: the rubric, and every hook that may score in its place."""
        rubric = self.bench.benches[self.task_class].rubric_digest
        hooks = self.ihook.pytest_bench_score.get_hookimpls()
        return scorer_digest(rubric, [h.plugin for h in hooks if h.plugin is not self.bench])

    def score(self, case: BenchCase, harness_output: Mapping[str, Any]) -> object:
        """Call the hook as seen from the item, which falls back to the rubric."""
        score = self.ihook.pytest_bench_score
        return score(config=self.config, case=case, harness_output=harness_output)

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any, **kwargs: Any
    ) -> Any:
        """Show the text of a failed case only: a traceback would point into benchgate."""
        if isinstance(excinfo.value, BenchCaseFailed):
            # A type of pytest's own, since reporters know no other and xdist sends no other whole; native, since some
            # look for Python code where another style says that it failed.
            shown = excinfo.getrepr(style="native")
            text = str(excinfo.value)
            shown.reprtraceback.reprentries[0].lines = [f"{text}\n"]
            crash = shown.reprcrash
            if crash is not None:
                crash.path = str(self.path)
                crash.lineno = self._line() + 1
                crash.message = text.partition("\n")[0]
            return shown
        return super().repr_failure(excinfo, *args, **kwargs)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the case file and the 0-based line of ``[case]``; never None, which breaks skip marks."""
        return self.path, self._line(), self.name

    @cached_property
    def location(self) -> tuple[str, int | None, str]:
        """File, line and name; the file is in the id already, and pytest takes long to find it for each case."""
        file = self.nodeid.rpartition("::")[0]
        if file.startswith("/"):  # outside rootdir, where pytest says it in its own way
            return super().location
        return file, self._line(), self.name

    def where(self) -> str:
        """Return ``path:line`` of the case, relative to rootdir where it lies below."""
        return f"{self._shown(self.path)}:{self._line() + 1}"

    def _shown(self, path: Path) -> str:
        root = self.config.rootpath
        if path.is_relative_to(root):
            path = path.relative_to(root)
        return path.as_posix()

    def _line(self) -> int:
        return self.bench.benches[self.task_class].line(self.case_id) - 1
