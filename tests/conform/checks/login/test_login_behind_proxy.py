"""Nothing before a login: the checks at a proxy that serves, and has rights of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from kwire.conform import ConformanceRun, ConformanceVerdict, SuiteOptions, run_suite
from kwire.net.address import Address
from kwire.net.sasl import Credentials
from kwire.net.security import Security
from tests.support.conform.quorum_with_logins import quorum_with_logins
from tests.support.controller.sasl_listeners import admin_properties, plain, scram
from tests.support.proxy.secure_cluster import (
    PLAIN_PASSWORD,
    USER_LOGIN,
    SecureCluster,
    configured,
    layout,
)
from tests.support.proxy.serve.serving_proxy import serving
from tests.support.real_kafka.own_cluster import OwnCluster

MINUTE_MS, MOMENT_MS = 60_000, 3_000


async def passed_behind_proxy(
    node: int, address: Address, properties: Path, sasl: Credentials, ids: Sequence[str]
) -> int:
    """Return how many checks passed at the proxy, where none fails."""
    async with serving({node: address}, client_config=properties) as proxy:
        options = SuiteOptions(ids=tuple(ids), security=Security(sasl=sasl))
        run = await run_suite(proxy.bootstrap, options)
    assert not bad(run)
    return run.counts[ConformanceVerdict.PASS] - 1  # that of the start


def bad(run: ConformanceRun) -> list[tuple[str, str, str]]:
    return [(r.id, r.came, r.reason) for r in run if r.verdict.is_bad or r.left_behind]


@pytest.mark.parametrize(
    ("ids", "sasl", "session_ms", "passed"),
    [
        (["login/effects/4", "login/effects/11"], plain(), MINUTE_MS, 2),
        (["login/effects/12", "login/effects/14"], plain(), MINUTE_MS, 2),
        (["login/effects/10"], plain(), MOMENT_MS, 1),
        (["login/effects/6", "login/effects/13"], scram(), MINUTE_MS, 2),
    ],
)
async def test_kwires_controllers_do_nothing_for_whom_the_proxy_does_not_know(
    ids: list[str], sasl: Credentials, session_ms: int, passed: int, tmp_path: Path
) -> None:
    properties = admin_properties(tmp_path / "admin.properties")
    async with quorum_with_logins(session_ms) as address:
        assert await passed_behind_proxy(3000, address, properties, sasl, ids) == passed


async def kafka_passed(secure: SecureCluster, folder: Path, ids: Sequence[str]) -> int:
    properties = secure.client_properties(
        folder / "alice.properties", "PLAIN", "alice", PLAIN_PASSWORD
    )
    address = Address.parse(secure.node("CONTROLLER_SASL"))
    return await passed_behind_proxy(1, address, properties, USER_LOGIN, ids)


async def test_kafkas_controllers_do_nothing_for_whom_the_proxy_does_not_know(
    secure: SecureCluster, tmp_path: Path
) -> None:
    assert await kafka_passed(secure, tmp_path, ["login"]) == 27


@pytest.mark.releases
@pytest.mark.parametrize("version", ["3.9.1", "4.4.0"])
async def test_controllers_of_other_releases_do_neither(
    own_cluster: OwnCluster, tmp_path: Path, version: str
) -> None:
    cluster = own_cluster(layout(tmp_path, version))
    secure = configured(cluster, tmp_path)
    await asyncio.to_thread(cluster.start)
    await asyncio.to_thread(secure.add_user)
    assert await kafka_passed(secure, tmp_path, ["login"]) == 27
