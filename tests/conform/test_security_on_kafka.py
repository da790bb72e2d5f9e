"""The checks of SASL and TLS against real listeners, and each seen to fail behind its break."""

import asyncio
from dataclasses import replace
from ssl import SSLContext

import pytest

from breaking.run import all_breaks, see_fail
from kwire.conform import ConformanceVerdict, SuiteOptions, run_suite
from kwire.conform.check import Check
from kwire.conform.registry import select
from kwire.conform.target import Target, examine_target
from kwire.errors import BrokerError
from kwire.net.address import Address
from kwire.net.security import Security
from kwire.net.tls import ClientTls
from tests.support.proxy.secure_cluster import ALICE_LOGIN, USER_LOGIN, SecureCluster

KAFKAS_OWN = {"security/scram/11"}
"""FAIL on Apache Kafka 4.3.1 itself: it takes the attribute m of SCRAM."""

LISTENERS = {
    "DIRECT_SASL": USER_LOGIN,
    "SASL_TLS": ALICE_LOGIN,
    "DIRECT_TLS": None,
    "CONTROLLER_SASL": ALICE_LOGIN,
    "CONTROLLER_SASL_TLS": USER_LOGIN,
    "CONTROLLER_TLS": None,
}


def security(secure: SecureCluster, listener: str) -> Security:
    pem = secure.pem
    tls = ClientTls(authorities=secure.authority.path, certificate=pem.certificate, key=pem.key)
    return Security(tls=tls if "TLS" in listener else None, sasl=LISTENERS[listener])


@pytest.mark.parametrize("listener", LISTENERS)
def test_kafka_keeps_the_sentences_of_its_security(secure: SecureCluster, listener: str) -> None:
    options = SuiteOptions(ids=("security",), security=security(secure, listener))
    run = asyncio.run(run_suite(secure.node(listener), options))
    bad = {result.id for result in run if result.verdict.is_bad}
    assert bad <= KAFKAS_OWN
    passed = run.counts[ConformanceVerdict.PASS]
    assert passed > (30 if LISTENERS[listener] else 9)
    assert not run.problem


async def seen(
    check: Check, targets: list[tuple[Target, SSLContext | None]], gate: asyncio.Semaphore
) -> str:
    """Return a problem. targets: with the TLS that the relay in front of them speaks."""
    async with gate:
        for target, tls in targets:
            result = await see_fail(check, target, all_breaks()[check.id], tls=tls)
            if not result.skipped:
                return f"{check.id}: {result.problem}" if result.problem else ""
    return f"{check.id} is skipped everywhere"


async def test_each_check_of_logins_and_tls_is_seen_to_fail(secure: SecureCluster) -> None:
    # What is inside TLS the relay reads only where it ends it itself.
    tls = secure.authority.server("127.0.0.1")
    listeners = (
        ("DIRECT_SASL", USER_LOGIN, None),
        ("DIRECT_SASL", ALICE_LOGIN, None),
        ("DIRECT_TLS", None, None),
        ("SASL_TLS", ALICE_LOGIN, tls),
    )
    targets = [
        (
            await examine_target(
                Address.parse(secure.node(listener)),
                replace(security(secure, listener), sasl=credentials),
            ),
            listens_with,
        )
        for listener, credentials, listens_with in listeners
    ]
    # Those of logins without TLS are seen to fail on kwire's controllers, which costs less.
    asked = select(["security", "answers/access", "login/answers/15", "login/effects/15"])
    checks = [c for c in asked if not c.id.startswith("security/plaintext")]
    gate = asyncio.Semaphore(8)
    problems = await asyncio.gather(*(seen(check, targets, gate) for check in checks))
    assert not list(filter(None, problems))


def test_a_wrong_password_is_told_in_a_sentence(secure: SecureCluster) -> None:
    wrong = replace(ALICE_LOGIN, password="wrong")
    options = SuiteOptions(security=Security(sasl=wrong))
    with pytest.raises(BrokerError, match="refuses alice by PLAIN: Authentication failed"):
        asyncio.run(run_suite(secure.node("DIRECT_SASL"), options))
