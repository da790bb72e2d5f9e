"""Every check is seen to fail: behind a relay that breaks its sentence, and only there."""

import asyncio
import sys
from collections.abc import Sequence
from itertools import groupby

import pytest

from breaking.run import SeenToFail, all_breaks, see_fail
from kwire.conform.check import Check
from kwire.conform.leftovers import sweep
from kwire.conform.registry import all_checks
from kwire.conform.target import Target, examine_target
from kwire.conform.vocabulary import Need, ServerRole
from kwire.net.address import Address
from real_kafka import Cluster, Layout
from tests.support.real_kafka.own_cluster import OwnCluster

TOGETHER = 8


def test_every_check_has_a_break_and_every_break_a_check() -> None:
    checks, breaks = {check.id for check in all_checks()}, set(all_breaks())
    assert (sorted(checks - breaks), sorted(breaks - checks)) == ([], [])


async def test_a_check_of_each_section_is_seen_to_fail(combined: Cluster) -> None:
    targets = await targets_of(combined)
    harmless = (check for check in all_checks() if not check.alone and not is_destructive(check))
    sections = groupby(harmless, lambda check: check.id.rpartition("/")[0])
    gate = asyncio.Semaphore(TOGETHER)

    async def see_one(checks: Sequence[Check]) -> str:
        async with gate:
            # Families last, and only behind their break: they are hundreds of requests.
            for check in sorted(checks, key=lambda check: check.members is not None):
                seen = await seen_somewhere(check, targets, unbroken=check.members is None)
                if not seen.skipped and not seen.fails_unbroken:
                    return f"{check.id}: {seen.problem}" if seen.problem else ""
            return ""

    problems = await asyncio.gather(*(see_one(list(checks)) for _, checks in sections))
    assert not list(filter(None, problems))


@pytest.mark.nightly
async def test_every_check_is_seen_to_fail(
    combined: Cluster,
    quorum: Cluster,
    kafka391: Cluster,
    kafka440: Cluster,
    capsys: pytest.CaptureFixture[str],
) -> None:
    clusters = (combined, quorum, kafka440, kafka391)
    targets = [target for cluster in clusters for target in await targets_of(cluster)]
    checks = [check for check in all_checks() if not is_destructive(check)]
    try:
        assert not await unseen(checks, targets, capsys)
    finally:
        # A break may have prevented a removal, too.
        for target in targets:
            await sweep(target, all_ages=True)


@pytest.mark.nightly
async def test_every_destructive_check_is_seen_to_fail(
    own_cluster: OwnCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    targets = []
    for layout in (Layout.combined(), Layout.quorum()):
        cluster = own_cluster(layout)
        await asyncio.to_thread(cluster.start)
        targets += await targets_of(cluster)
    checks = [check for check in all_checks() if is_destructive(check)]
    assert not await unseen(checks, targets, capsys, together=1)


def is_destructive(check: Check) -> bool:
    return Need.THROW_AWAY in check.needs


async def targets_of(cluster: Cluster) -> list[Target]:
    """Return a broker and a controller of a cluster."""
    brokers = Address.parse(cluster.bootstrap_servers.partition(",")[0])
    controllers = Address.parse(cluster.bootstrap_controllers.partition(",")[0])
    return [
        await examine_target(brokers, role=ServerRole.BROKER),
        await examine_target(controllers, role=ServerRole.CONTROLLER),
    ]


async def seen_somewhere(
    check: Check, targets: Sequence[Target], *, unbroken: bool = True
) -> SeenToFail:
    """Return the results at the first server that does not skip the check, or the last ones.

    A server that fails it without the break, as a version of Kafka may, shows nothing either.
    """
    for target in targets:
        seen = await see_fail(check, target, all_breaks()[check.id], unbroken=unbroken)
        if not seen.skipped and not seen.fails_unbroken:
            break
    return seen


async def unseen(
    checks: Sequence[Check],
    targets: Sequence[Target],
    capsys: pytest.CaptureFixture[str],
    together: int = TOGETHER,
) -> list[str]:
    """Return the problems of checks; print those that no server can be asked."""
    problems = []

    async def see_each(group: Sequence[Check], gate: asyncio.Semaphore) -> None:
        async def see(check: Check) -> None:
            async with gate:
                seen = await seen_somewhere(check, targets)
            reason = "these servers fail it" if seen.fails_unbroken else seen.skipped
            if reason:
                with capsys.disabled():
                    sys.stdout.write(f"\nnot seen to fail here: {check.id}: {reason}")
            elif seen.problem:
                problems.append(f"{check.id}: {seen.problem}")

        await asyncio.gather(*map(see, group))

    await see_each([check for check in checks if not check.alone], asyncio.Semaphore(together))
    await see_each([check for check in checks if check.alone], asyncio.Semaphore(1))
    return problems
