"""The tiers of the suite: what belongs to each, and how long a test of it may take.

check: needs neither Java nor Spark, container, cluster, browser or other program (`make check`).
test: besides, each capability once with its real part (`make test`).
nightly: long forms, other releases, kills, repetitions (`make nightly`).
"""

from __future__ import annotations

import gc
import os
import resource
import time
from collections.abc import Generator
from typing import Any
from zlib import crc32

import pytest

from tests.support.seed import SEED, VARIABLE

NIGHTLY_MARKS = frozenset({"nightly", "releases", "migrations"})
REAL_MARKS = frozenset({"java", "cluster", "container", "spark", "real", "costly"})
REAL_FIXTURES = frozenset({"kafka", "spark", "chromium", "tshark", "docker_engine"})
"""Fixtures that bring a real part with them."""

TIMEOUTS = {"check": 60, "test": 300, "nightly": 1800}
"""Seconds by the clock until a test counts as hanging, where it names no other time itself."""

AGAIN = 30
"""Seconds for the rest of a test of which a subtest has failed."""

CPU_SECONDS = 2.0
"""What a test of the tier check may cost, its processes and its fixtures included."""

LOOP = 0.02
"""CPU seconds of `_loop` on a machine that CPU_SECONDS is meant for; a slower one may take more."""

NO_TIME = "left out: the time of --within is over"

_TIER = pytest.StashKey[str]()
_TIMEOUT = pytest.StashKey[Any]()
_SET_UP = pytest.StashKey[float]()
_BEGAN = pytest.StashKey[float]()


def tier(item: pytest.Item) -> str:
    """Return the name of the tier that an item belongs to."""
    if _TIER not in item.stash:
        item.stash[_TIER] = _tier(item)
    return item.stash[_TIER]


def _tier(item: pytest.Item) -> str:
    marks = {mark.name for mark in item.iter_markers()}
    if marks & NIGHTLY_MARKS:
        return "nightly"
    fixtures = getattr(item, "fixturenames", ())
    is_real = marks & REAL_MARKS or REAL_FIXTURES.intersection(fixtures)
    return "test" if is_real else "check"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tiers")
    group.addoption("--share", help="K/N: only the K-th of N shares of the tests, by their names")
    group.addoption("--within", type=float, help="seconds after which no test is begun any more")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is real, for `-m`, and give each test the time of its tier."""
    if share := config.getoption("--share"):
        number, count = map(int, share.split("/"))
        items[:] = [i for i in items if crc32(i.nodeid.encode()) % count == number - 1]
    for item in items:
        name = tier(item)
        if name != "check":
            item.add_marker(pytest.mark.real if name == "test" else pytest.mark.nightly)
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(TIMEOUTS[name]))
    # What takes long comes first, so that no worker is left with it at the end.
    items.sort(key=lambda item: tier(item) == "check")


def pytest_collection_finish() -> None:
    """Keep what was imported out of all later garbage collections."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> Generator[None, object, object]:
    """Note the time-out of a test."""
    item.stash[_TIMEOUT] = settings
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_exception_interact(node: pytest.Item, report: pytest.TestReport) -> Generator[None]:
    """Limit the rest of a test as well, behind a subtest that failed.

    pytest-timeout stops its timer where anything fails, and a time-out fails the subtest alone.
    """
    yield
    if isinstance(report, pytest.SubtestReport) and _TIMEOUT in node.stash:
        rest = node.stash[_TIMEOUT]._replace(timeout=AGAIN)
        node.ihook.pytest_timeout_set_timer(item=node, settings=rest)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Draw examples from the seed of the run; keep compiled files whole."""
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(SEED)
    is_distributed = config.option.dist != "no" and not hasattr(config, "workerinput")
    if not is_distributed:
        # A process whose disk is full, as in some tests, would leave half a .pyc for all others.
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    gc.disable()  # while tests are collected, of which nothing is garbage


def pytest_xdist_auto_num_workers() -> int:
    """Return the workers of `-n auto`: one more than cores, as half of the time is waits."""
    return min((os.cpu_count() or 1) + 1, 8)


def pytest_report_header() -> str:
    """Say how to play the same again."""
    return f"seed: {SEED} (with {VARIABLE}={SEED} the same is played again)"


def pytest_sessionstart(session: pytest.Session) -> None:
    """Note when the time of `--within` begins."""
    session.config.stash[_BEGAN] = time.monotonic()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Note what the fixtures cost; leave the test out if there is no time for it any more."""
    within = item.config.getoption("--within")
    if within is not None and time.monotonic() - item.config.stash[_BEGAN] > within:
        pytest.skip(NO_TIME)
    before = _cpu_seconds()
    yield
    item.stash[_SET_UP] = _cpu_seconds() - before


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Fail a test of the tier check that costs too much."""
    before = _cpu_seconds()
    yield
    cost = item.stash[_SET_UP] + _cpu_seconds() - before
    if cost > CPU_SECONDS and tier(item) == "check" and cost > CPU_SECONDS * _slowness():
        pytest.fail(
            f"it cost {cost:.1f} CPU seconds of the {CPU_SECONDS:.0f} that a test of the tier check"
            " may: make it cheaper, or split it; its long form is for the tier nightly",
            pytrace=False,
        )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly what was left out."""
    skipped = terminalreporter.stats.get("skipped", [])
    left_out = [report.nodeid for report in skipped if NO_TIME in str(report.longrepr)]
    if left_out:
        terminalreporter.section(f"{len(left_out)} tests left out for want of time", red=True)
        terminalreporter.write("".join(f"{nodeid}\n" for nodeid in left_out))


def _cpu_seconds() -> float:
    """Return the CPU time of this process, and of those that it has waited for."""
    own, children = (resource.getrusage(who) for who in _WHO)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


_WHO = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)


def _slowness() -> float:
    """Return how many times the CPU seconds of a quiet machine are spent here and now."""
    before = time.process_time()
    _loop()
    return max(1.0, (time.process_time() - before) / LOOP)


def _loop() -> None:
    sum(number * number % 7 for number in range(500_000))
