"""Nothing before a login: the checks on real brokers and controllers of three releases."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import NamedTuple

import pytest

from kwire.conform import ConformanceVerdict, SuiteOptions, run_suite
from kwire.net.sasl import Credentials
from kwire.net.security import Security
from kwire.net.tls import ClientTls
from tests.support.proxy.secure_cluster import (
    ALICE_LOGIN,
    USER_LOGIN,
    SecureCluster,
    configured,
    layout,
)
from tests.support.real_kafka.own_cluster import OwnCluster


class Run(NamedTuple):
    """passed: how many checks have something to say there."""

    listener: str
    sasl: Credentials
    ids: tuple[str, ...]
    passed: int


RUNS = [
    Run("DIRECT_SASL", ALICE_LOGIN, ("login",), 25),
    Run("CONTROLLER_SASL", USER_LOGIN, ("login",), 27),
    Run("CONTROLLER_SASL", ALICE_LOGIN, ("login/answers/10", "login/effects/10"), 2),
    Run("SASL_TLS", ALICE_LOGIN, ("login/answers/15", "login/effects/15"), 2),
    Run("CONTROLLER_SASL_TLS", ALICE_LOGIN, ("login/answers/15", "login/effects/15"), 2),
]


def check(secure: SecureCluster, run: Run) -> None:
    pem = secure.pem
    tls = ClientTls(authorities=secure.authority.path, certificate=pem.certificate, key=pem.key)
    security = Security(tls=tls if "TLS" in run.listener else None, sasl=run.sasl)
    options = SuiteOptions(ids=run.ids, security=security)
    done = asyncio.run(run_suite(secure.node(run.listener), options))
    assert not [(r.id, r.came, r.reason, r.left_behind) for r in done if r.verdict.is_bad]
    assert not [text for result in done for text in result.left_behind]
    assert done.counts[ConformanceVerdict.PASS] == run.passed + 1  # and that of the start


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run.listener}-{run.sasl.mechanism}")
def test_kafka_does_nothing_before_a_login(secure: SecureCluster, run: Run) -> None:
    check(secure, run)


@pytest.mark.releases
@pytest.mark.parametrize("version", ["3.9.1", "4.4.0"])
def test_other_releases_do_nothing_before_a_login(
    own_cluster: OwnCluster, tmp_path: Path, version: str, subtests: pytest.Subtests
) -> None:
    cluster = own_cluster(layout(tmp_path, version))
    secure = configured(cluster, tmp_path)
    cluster.start()
    secure.add_user()
    for run in RUNS:
        with subtests.test(listener=run.listener, mechanism=str(run.sasl.mechanism)):
            check(secure, run)
