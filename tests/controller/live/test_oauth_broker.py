"""A broker of Kafka's logs in to controllers of kwire's with a token that an issuer has signed.

The broker has it from a file (KIP-768; its JVM must allow the file's URL), kwire checks it by the
issuer's key set, and the broker's principal decides what it may do.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kwire.controller.authorization.standard_authorizer import CLASS_NAME
from kwire.testing.quorum import Quorum
from real_kafka import Launcher
from tests.support.controller.live.broker_traffic import consume, create, produce, until_broker
from tests.support.controller.live.java_nodes import JavaNodes
from tests.support.controller.sasl_listeners import MODULES, sasl_listener, signed_tokens
from tests.support.eventually import eventually
from tests.support.tokens import TokenIssuer

pytestmark = pytest.mark.nightly

BROKER = "broker-1"
PREFIX = "listener.name.controller.oauthbearer.sasl"


def controllers(key_set: Path) -> dict[str, str]:
    """Controllers that know each other by PLAIN, and brokers by tokens."""
    return {
        **sasl_listener("PLAIN", "OAUTHBEARER"),
        **signed_tokens(key_set),
        "authorizer.class.name": CLASS_NAME,
        "super.users": f"User:admin;User:{BROKER};User:ANONYMOUS",  # the broker's own clients
    }


def broker_properties(token: Path) -> dict[str, str]:
    """A broker that reads its token from a file whenever it logs in."""
    handler = f"{MODULES}.oauthbearer.OAuthBearerLoginCallbackHandler"
    return {
        **sasl_listener("OAUTHBEARER"),
        f"{PREFIX}.login.callback.handler.class": handler,
        "sasl.oauthbearer.token.endpoint.url": token.as_uri(),
    }


def allowed(token: Path) -> tuple[str, ...]:
    return (f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={token.as_uri()}",)


@pytest.mark.parametrize("version", ["4.3.1", pytest.param("4.4.0", marks=pytest.mark.releases)])
async def test_a_broker_with_a_signed_token_registers_and_serves(
    kafka: Launcher, version: str, tmp_path: Path
) -> None:
    issuer, key_set, token = TokenIssuer(), tmp_path / "keys.json", tmp_path / "token.jwt"
    issuer.write_jwks(key_set)
    token.write_text(issuer.token(BROKER))
    async with Quorum(3, properties=controllers(key_set)) as quorum:
        java = JavaNodes(kafka, quorum, version)
        try:
            broker = java.make(1, "broker", broker_properties(token), jvm=allowed(token))
            await asyncio.to_thread(broker.start)
            await until_broker(quorum, 1, active=True)
            at = str(broker.broker_address)
            await asyncio.to_thread(create, at, "signed", partitions=1, replicas=1)
            await asyncio.to_thread(produce, at, "signed", 20)
            assert await asyncio.to_thread(consume, at, "signed", 20) == list(range(20))
            # The token is good at whoever leads.
            await (await quorum.active_controller()).kill()
            await quorum.wait_for_leader()
            await asyncio.to_thread(create, at, "signed-again", partitions=1, replicas=1)
        finally:
            await asyncio.to_thread(java.close)


async def test_a_broker_with_another_issuers_token_does_not_register(
    kafka: Launcher, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    key_set, token = tmp_path / "keys.json", tmp_path / "token.jwt"
    TokenIssuer().write_jwks(key_set)
    forged = TokenIssuer().token(BROKER)
    token.write_text(forged)
    async with Quorum(1, properties=controllers(key_set)) as quorum:
        leader = await quorum.active_controller()
        java = JavaNodes(kafka, quorum)
        try:
            broker = java.make(1, "broker", broker_properties(token), jvm=allowed(token))
            starting = asyncio.create_task(asyncio.to_thread(broker.start))
            await eventually(broker.log, lambda log: "invalid_token" in log, pause=0.2)
            assert not leader.metadata.image.cluster.brokers
            assert forged not in caplog.text
            await asyncio.to_thread(broker.kill)
            await asyncio.gather(starting, return_exceptions=True)
        finally:
            await asyncio.to_thread(java.close)
