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

REST_SECONDS = 30
"""Seconds for the rest of a test whose time is over in one of its subtests."""

GRACE_SECONDS = 600
"""Seconds by which a test may go on when the time of --within is over: `.ci/clock` grants them."""

CPU_SECONDS = 2.0
"""The most that a test of the tier check may cost, its processes and its fixtures included."""

LOOP_CPU_SECONDS = 0.02
"""Those of `_loop` on a machine that CPU_SECONDS is meant for; on a slower one a test may more."""

CROWD = 2
"""Processes a core, from which on others than the tests run, too."""

CROWDED = 2.0
"""The factor by which a test may cost more then."""

LEFT_OUT = "left out: --within leaves no time for it"

_TIER = pytest.StashKey[str]()
_TIMER = pytest.StashKey[Any]()
_DEADLINE = pytest.StashKey[float]()
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
    """Take the share of `--share`, mark what is real, for `-m`, and give each test its time-out."""
    if share := config.getoption("--share"):
        number, count = map(int, share.split("/"))
        items[:] = [i for i in items if crc32(i.nodeid.encode()) % count == number - 1]
    for item in items:
        name = tier(item)
        if name != "check":
            item.add_marker(pytest.mark.real if name == "test" else pytest.mark.nightly)
        if not _is_long_form(config) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(TIMEOUTS[name]))
    # What takes long comes first, so that no worker is left with it at the end.
    items.sort(key=lambda item: tier(item) == "check")


def _is_long_form(config: pytest.Config) -> bool:
    """True if the command line says how long a test may take: then it may also cost so much."""
    return config.getoption("timeout") is not None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without looking for garbage, of which there is none, then or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> Generator[None, object, object]:
    """Note until when a test may take."""
    item.stash[_TIMER] = settings
    item.stash.setdefault(_DEADLINE, time.monotonic() + settings.timeout)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_exception_interact(node: pytest.Item, report: pytest.TestReport) -> Generator[None]:
    """Limit the rest of a test after a subtest that failed, too.

    pytest-timeout stops its timer where anything fails, and a time-out fails the subtest alone.
    """
    yield
    if isinstance(report, pytest.SubtestReport) and _TIMER in node.stash:
        left = node.stash[_DEADLINE] - time.monotonic()
        if left <= 0:
            left = max(1.0, left + REST_SECONDS)
        node.ihook.pytest_timeout_set_timer(
            item=node, settings=node.stash[_TIMER]._replace(timeout=left)
        )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Draw examples from the seed of the run; keep compiled files whole."""
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(SEED)
    is_controller = config.option.dist != "no" and not hasattr(config, "workerinput")
    if not is_controller:  # which collects nothing
        # A process whose disk is full, as in some tests, would leave half a .pyc for all others.
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


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
    if not _has_time(item):
        pytest.skip(LEFT_OUT)
    before = _cpu_seconds()
    yield
    item.stash[_SET_UP] = _cpu_seconds() - before


def _has_time(item: pytest.Item) -> bool:
    """True if a test may begin: one that asks for a longer time-out than others may need it."""
    within = item.config.getoption("--within")
    if within is None:
        return True
    left = within - (time.monotonic() - item.config.stash[_BEGAN])
    mark = item.get_closest_marker("timeout")
    needed = mark.args[0] if mark is not None and mark.args[0] != TIMEOUTS[tier(item)] else 0
    return bool(left > 0 and needed <= left + GRACE_SECONDS)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Fail a test of the tier check that costs too much."""
    before = _cpu_seconds()
    yield
    cost = item.stash[_SET_UP] + _cpu_seconds() - before
    is_judged = tier(item) == "check" and not _is_long_form(item.config)
    if is_judged and cost > CPU_SECONDS and cost > CPU_SECONDS * _slowness():
        pytest.fail(
            f"it cost {cost:.1f} CPU seconds of the {CPU_SECONDS:.0f} that a test of the tier check"
            " may: make it cheaper, or split it; its long form is for the tier nightly",
            pytrace=False,
        )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly what was left out."""
    skipped = terminalreporter.stats.get("skipped", [])
    left_out = [report.nodeid for report in skipped if LEFT_OUT in str(report.longrepr)]
    if left_out:
        terminalreporter.section(f"{len(left_out)} tests left out for want of time", red=True)
        terminalreporter.write("".join(f"{nodeid}\n" for nodeid in left_out))


def _cpu_seconds() -> float:
    """Return the CPU time of this process, and of those that it has waited for."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, who))


def _slowness() -> float:
    """Return how many times the CPU seconds of a quiet machine are spent here and now, at worst.

    What runs beside the tests shares caches with them, which the loop does without.
    """
    is_crowded = os.getloadavg()[0] > CROWD * (os.cpu_count() or 1)
    slowest = max(1.0, *(_loop() / LOOP_CPU_SECONDS for _ in range(5)))
    return slowest * (CROWDED if is_crowded else 1.0)


def _loop() -> float:
    """Return the CPU seconds of a loop of known length."""
    before = time.thread_time()
    sum(number * number % 7 for number in range(500_000))
    return time.thread_time() - before
