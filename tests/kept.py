"""A plugin of pytest: tests that passed are not run again until something that they depend on changes (`--kept`).

What a test depends on is declared by its folder, in `tests/inputs.py`. Two watches hold the declarations to the truth:
a test that opens a file of the repository outside of its inputs fails (`_Watch`), and `tests/proofs/test_inputs.py`
holds what test files import to be within them. Versions of packages and tools, the processor and the environment's
variables count for every test.

The plugin also prints the seconds of each test file, and fails a run in which one took more than `BUDGET`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from tests.inputs import EVERYTHING, INPUTS
from torchbook.runtime import find_chromium
from torchbook_proofs import Key, Store, digest, installed, processor

ROOT = Path(__file__).resolve().parents[1]
KIND = "tests"
_BETWEEN = 120  # seconds after which passes are stored, while the run goes on
BUDGETS = Path(__file__).with_name("budgets.toml")
_TABLE = "inputs.py"  # does not count as a whole: an entry counts for its tests, whose keys hold what it names
_SHARED = (
    "pyproject.toml",
    *sorted(f"tests/{p.name}" for p in (ROOT / "tests").glob("*.py") if not p.match("test_*") and p.name != _TABLE),
)
# Tests that are never left out: those of keeping, and those of the site, which keep what they prove page by page.
NEVER = ("tests/proofs/", "tests/site/")
# Made by other tools, with proofs of their own or none: no test's input.
_OUTSIDE = (".venv", ".cache", ".git", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache")


def inputs_of(file: str) -> tuple[str, ...]:
    """The inputs of a test file, given by its path from the repository's root."""
    fitting = [name for name in INPUTS if file == name or file.startswith(f"{name}/")]
    return (*_SHARED, *INPUTS[max(fitting, key=len)]) if fitting else EVERYTHING


def key_of(file: str) -> Key:
    """What the passes of a test file depend on."""
    parts = {name: _digest(name) for name in dict.fromkeys((file, *inputs_of(file)))}
    return Key(KIND, file, parts | dict(_machine()))


@cache
def _digest(name: str) -> str:
    if "*" in name:
        names = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob(name))
        return hashlib.sha256("\n".join(names).encode()).hexdigest()
    return digest(*_tracked()) if name == "." else digest(ROOT / name, root=ROOT)


def _tracked() -> Iterator[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    yield from (ROOT / name for name in sorted(filter(None, listed.split("\0"))))


@cache
def _machine() -> tuple[tuple[str, str], ...]:
    """Versions, the processor and variables, for all tests the same."""
    tools = {name: _version(name) for name in (find_chromium() or "chromium", "node", "npm", "bwrap", "g++", "git")}
    uncounted = ("TORCHBOOK_PROOFS", "TORCHBOOK_FRESH", "TORCHBOOK_PATIENCE")
    names = [n for n in sorted(os.environ) if n.startswith("TORCHBOOK_") and n not in uncounted and "COMMIT" not in n]
    facts = {
        "installed": installed(),
        "processor": processor(),
        "cores": str(os.cpu_count()),
        "root": str(os.geteuid() == 0) if hasattr(os, "geteuid") else "",
        "variables": repr([(name, os.environ[name]) for name in names if name != "TORCHBOOK_DATA"]),
        "data": _data(),
        **{f"version of {Path(name).name}": version for name, version in tools.items()},
    }
    return tuple(facts.items())


def _data() -> str:
    """Names and sizes of the files of data that are here: with other data, tests skip or draw other cases."""
    folder = os.environ.get("TORCHBOOK_DATA")
    files = sorted(path for path in Path(folder).rglob("*") if path.is_file()) if folder else []
    return repr([(path.name, path.stat().st_size) for path in files])


def _version(tool: str) -> str:
    if not shutil.which(tool):
        return "missing"
    done = subprocess.run([tool, "--version"], capture_output=True, text=True, timeout=60)
    return done.stdout.strip()


# Watching what tests open.


class _Watch:
    """Notes which files of the repository the running test opens or lists outside of its inputs."""

    def __init__(self) -> None:
        self.allowed: tuple[str, ...] | None = None
        self.strange: set[str] = set()
        sys.addaudithook(self._event)

    def _event(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.allowed is None or event not in ("open", "os.listdir", "os.scandir") or not arguments:
            return
        path = arguments[0]
        if not isinstance(path, str) or "__pycache__" in path or path.endswith(".py"):
            return  # what is imported is held by its own test; tracebacks and hypothesis read all sources there are
        if not os.path.isabs(path) and event == "open" and arguments[1] is None:
            return  # by os.open: relative to an open folder, which is not said, as where a tree is removed
        name = os.path.abspath(path)
        if not name.startswith(f"{ROOT}{os.sep}") or not os.path.lexists(name):
            return
        name = name[len(str(ROOT)) + 1 :]
        if name.startswith(_OUTSIDE) or any(name == a or name.startswith(f"{a}/") for a in self.allowed):
            return
        if event == "open" or not any(_is_above(name, a) for a in self.allowed):
            self.strange.add(name)


def _is_above(folder: str, name: str) -> bool:
    """Whether a file or folder, or one that a pattern fits, lies in a folder: who looks for it lists the folder."""
    return any(PurePosixPath("/", folder).match(f"/{parent}") for parent in PurePosixPath(name).parents)


_watch: _Watch | None = None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    file = _file(item.nodeid)
    allowed = inputs_of(file)
    if _watch is None or "." in allowed:
        return (yield)
    _watch.allowed, _watch.strange = (file, *allowed), set()
    try:
        return (yield)
    finally:
        _watch.allowed = None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    try:
        return (yield)
    finally:
        if _watch is not None and _watch.allowed is not None and _watch.strange:
            names = ", ".join(sorted(_watch.strange)[:5])
            _watch.strange = set()
            pytest.fail(f"it read {names}, outside of the inputs of its folder: name it in tests/inputs.py")


# Leaving out what is proved, and keeping what passed.


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kept", action="store_true", help="Leave out tests that passed with the same inputs.")


def pytest_configure(config: pytest.Config) -> None:
    global _watch
    if config.getoption("--kept") and _watch is None:
        _watch = _Watch()
    config.pluginmanager.register(_Table(config), "torchbook-table")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
        if item.get_closest_marker("browser"):  # it may starve beside other processes
            item.add_marker(pytest.mark.flaky(reruns=1))
    if config.getoption("--kept"):
        passed = {file: proved(file) for file in {_file(item.nodeid) for item in items}}
        kept = [item for item in items if item.nodeid in passed[_file(item.nodeid)]]
        left = [item for item in items if item.nodeid not in passed[_file(item.nodeid)]]
        config.hook.pytest_deselected(items=kept)
        config.stash[_KEPT] = len(kept)
        items[:] = left


_KEPT = pytest.StashKey[int]()


def proved(file: str) -> set[str]:
    """The tests of a file whose passes may be kept."""
    return set() if file.startswith(NEVER) else set(Store.default().get(key_of(file)) or ())


def keep(passed: Iterable[str], before: dict[str, Key]) -> None:
    """Store passes, by file, under the keys of before the run; of a file whose inputs changed meanwhile, none."""
    by_file = defaultdict(set)
    for test in passed:
        by_file[_file(test)].add(test)
    _digest.cache_clear()
    for file, tests in by_file.items():
        if not file.startswith(NEVER) and before.get(file) == key_of(file):
            Store.default().put(before[file], sorted(tests | proved(file)))


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]


class _Table:
    """Counts, in the process that reports: what passed, how long each file took, what was tried twice."""

    def __init__(self, config: pytest.Config) -> None:
        self.worker = hasattr(config, "workerinput")
        self.keeps = bool(config.getoption("--kept")) and not self.worker
        self.seconds: Counter[str] = Counter()
        self.outcomes: dict[str, set[str]] = defaultdict(set)
        self.proofs: Counter[tuple[str, str]] = Counter()
        self.kept = 0
        self.before: dict[str, Key] = {}
        self.stored = time.monotonic()

    def pytest_sessionstart(self) -> None:
        if self.keeps:  # every file, as a process that only reports collects none
            files = [path.relative_to(ROOT).as_posix() for path in ROOT.joinpath("tests").rglob("test_*.py")]
            self.before = {file: key_of(file) for file in files}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[_file(report.nodeid)] += report.duration
        self.outcomes[report.nodeid].add(f"{report.when} {report.outcome}")
        if self.keeps and time.monotonic() > self.stored + _BETWEEN:  # a run that is killed loses little
            keep(self.passed, self.before)
            self.stored = time.monotonic()

    def pytest_testnodedown(self, node: Any) -> None:
        output = getattr(node, "workeroutput", {})
        self.proofs.update({(kind, what): count for kind, what, count in output.get("proofs", ())})
        self.kept = max(self.kept, output.get("kept", 0))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        counts = [(kind, what, count) for (kind, what), count in Store.default().counts.items() if kind != KIND]
        kept = session.config.stash.get(_KEPT, 0)
        if self.worker:
            session.config.workeroutput |= {"proofs": counts, "kept": kept}  # type: ignore[attr-defined]
            return
        self.proofs.update({(kind, what): count for kind, what, count in counts})
        self.kept = max(self.kept, kept)
        if self.keeps:
            keep(self.passed, self.before)
        if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self.kept:
            session.exitstatus = pytest.ExitCode.OK
        if self.over() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @property
    def passed(self) -> list[str]:
        """Tests of which all went well the first time."""
        well = {"setup passed", "call passed", "teardown passed"}
        return [test for test, outcomes in self.outcomes.items() if outcomes == well]

    def over(self) -> list[str]:
        """The files that took more than their budgets, in words."""
        return over_budget(self.seconds, budgets())

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.worker or not self.seconds:
            return
        terminalreporter.section("seconds per test file")
        for file, seconds in self.seconds.most_common():
            if seconds >= 1:
                terminalreporter.line(f"{seconds:7.1f}  {file}")
        terminalreporter.line(f"{sum(self.seconds.values()):7.1f}  all, summed over processes")
        for line in self.over():
            terminalreporter.line(line, red=True)
        terminalreporter.section("proofs")
        if self.keeps:
            terminalreporter.line(f"{KIND}: {self.kept} kept, {len(self.passed)} made")
        for kind in sorted({kind for kind, _ in self.proofs}):
            terminalreporter.line(f"{kind}: {self.proofs[kind, 'kept']} kept, {self.proofs[kind, 'made']} made")


def budgets() -> dict[str, float]:
    """Seconds that the files of tests may take, by path; `*` is every other file's."""
    return dict(tomllib.loads(BUDGETS.read_text(encoding="utf-8"))["seconds"])


def over_budget(seconds: dict[str, float], limits: dict[str, float]) -> list[str]:
    """Files that took more than they may, in words; on a machine that asks for patience, more than that many times."""
    patience = max(1.0, float(os.environ.get("TORCHBOOK_PATIENCE", "1")))
    rows: Sequence[tuple[str, float, float]] = [
        (file, took, patience * limits.get(file, limits["*"])) for file, took in sorted(seconds.items())
    ]
    return [
        f"{file} took {took:.0f} s, its budget is {limit:.0f} s: make it quicker, or say in tests/budgets.toml why not"
        for file, took, limit in rows
        if took > limit
    ]
