"""Nothing before a login: the checks on kwire's controllers, and seen to fail behind a relay."""

from __future__ import annotations

import asyncio

import pytest

from breaking.run import all_breaks, see_fail
from kwire.conform import ConformanceVerdict, SuiteOptions, run_suite
from kwire.conform.check import Check
from kwire.conform.registry import check_of, select
from kwire.conform.target import examine_target
from kwire.conform.vocabulary import Need
from kwire.net.sasl import Credentials
from kwire.net.security import Security
from tests.support.conform.quorum_with_logins import quorum_with_logins
from tests.support.controller.sasl_listeners import plain, scram

PASS, FAIL = ConformanceVerdict.PASS, ConformanceVerdict.FAIL
SKIPPED = ConformanceVerdict.SKIPPED
MINUTE_MS, MOMENT_MS = 60_000, 2_000
TOGETHER = 8


@pytest.mark.parametrize(
    ("ids", "sasl", "session_ms", "passed"),
    [
        (["login/answers"], plain(), MINUTE_MS, 11),
        (["login/effects"], plain(), MINUTE_MS, 12),
        (["login/answers/6", "login/effects/6"], scram(), MINUTE_MS, 2),
        (["login/effects/13"], scram(), MINUTE_MS, 1),
        (["login/answers/10", "login/effects/10"], plain(), MOMENT_MS, 2),
    ],
)
async def test_a_controller_does_nothing_before_a_login(
    ids: list[str], sasl: Credentials, session_ms: int, passed: int
) -> None:
    async with quorum_with_logins(session_ms) as address:
        options = SuiteOptions(ids=tuple(ids), security=Security(sasl=sasl))
        run = await run_suite(address, options)
    counts = run.counts
    assert not [(r.id, r.came, r.reason) for r in run if r.verdict not in (PASS, SKIPPED)]
    assert counts[PASS] == passed + 1  # and that of the start
    assert not [text for result in run for text in result.left_behind]


@pytest.mark.costly
@pytest.mark.parametrize(("session_ms", "sasl"), [(MINUTE_MS, scram()), (MOMENT_MS, plain())])
async def test_each_check_is_seen_to_fail(session_ms: int, sasl: Credentials) -> None:
    """The end of a session where it is near, all others where it is not."""
    over = ["login/answers/10", "login/effects/10"]
    without_tls = [check.id for check in select(["login"]) if Need.TLS not in check.needs]
    ids = over if session_ms == MOMENT_MS else sorted(set(without_tls) - set(over))
    async with quorum_with_logins(session_ms) as address:
        target = await examine_target(address, Security(sasl=sasl))
        gate = asyncio.Semaphore(TOGETHER)

        async def problem(check: Check) -> str:
            async with gate:
                seen = await see_fail(check, target, all_breaks()[check.id], unbroken=False)
            why = seen.problem or seen.skipped
            return f"{check.id}: {why}" if why else ""

        problems = await asyncio.gather(*map(problem, select(ids)))
    assert not list(filter(None, problems))


@pytest.mark.parametrize("section", ["login/answers", "login/effects"])
async def test_each_api_that_is_let_in_is_seen(section: str) -> None:
    check = check_of(f"{section}/4")
    async with quorum_with_logins(MINUTE_MS) as address:
        target = await examine_target(address, Security(sasl=plain()))
        seen = await see_fail(check, target, all_breaks()[check.id], unbroken=False)
    members = seen.broken.members
    assert not seen.problem
    assert not [member.id for member in members if member.verdict not in (FAIL, SKIPPED)]
    asked = [member for member in members if "not asked" not in member.reason]
    assert len(asked) > 10
    assert {member.verdict for member in asked} == {FAIL}


async def test_requests_without_an_effect_are_no_proof() -> None:
    """The same requests after a login: each is carried out, and all of it is removed again."""
    check = check_of("login/effects/16")
    async with quorum_with_logins(MINUTE_MS) as address:
        target = await examine_target(address, Security(sasl=plain()))
        seen = await see_fail(check, target, all_breaks()[check.id])
    assert seen.unbroken is not None
    assert {member.verdict for member in seen.unbroken.members} == {PASS}
    assert seen.broken.verdict is FAIL
