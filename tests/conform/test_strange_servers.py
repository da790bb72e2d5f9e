"""Strange servers: a verdict with its evidence for each, within the time limit, and no PASS."""

from __future__ import annotations

import time

import pytest

from kwire.conform import target
from kwire.conform.suite import SuiteOptions, run_suite
from kwire.conform.vocabulary import ConformanceVerdict as V
from tests.support.conform.strange_servers import STRANGE, strange

LIMIT = 3.0
"""Seconds for a run."""
BEYOND = 2.0
"""Seconds in which a run that is over ends what it has open."""
IDS = ("versions/kip-511/1", "cluster/describe", "topics/create/1", "pairs/answers/4")
OPTIONS = SuiteOptions(ids=IDS, patience=0.1, limit=LIMIT)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("name", STRANGE)
async def test_a_strange_server_gets_no_false_verdict(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target, "EXAMINE_TIMEOUT", 0.3)
    began = time.monotonic()
    async with strange(STRANGE[name]) as address:
        run = await run_suite(address, OPTIONS)
    assert time.monotonic() - began < LIMIT + BEYOND
    first, *others = run.results
    if first.verdict is V.PASS:
        assert {result.verdict for result in others} <= {V.DIFFERS, V.FAIL, V.SKIPPED, V.DIED}
    else:
        assert {result.verdict for result in others} == {V.SKIPPED}
    for result in run.results:
        assert result.verdict is V.PASS or result.came or result.reason, result


async def test_a_server_that_is_slow_from_the_start_costs_no_more_than_the_limit() -> None:
    began = time.monotonic()
    async with strange(STRANGE["nothing"]) as address:
        run = await run_suite(address, SuiteOptions(ids=IDS, limit=0.3))
    assert time.monotonic() - began < BEYOND
    assert (run.results[0].verdict, run.results[0].came) == (
        V.FAIL,
        "nothing: it accepts it, and says no more",
    )
