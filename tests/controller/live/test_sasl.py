"""Brokers, controllers and tools of Kafka's that log in to controllers of kwire's."""

from __future__ import annotations

import asyncio
import re
import ssl
from pathlib import Path

import pytest
import trustme

from kwire.admin import AdminClient
from kwire.net.sasl import Mechanism
from kwire.net.security import read_security
from kwire.testing.local_kafka.running import RunningNode
from kwire.testing.quorum import Quorum
from kwire.text.properties import parse_properties, properties_text
from real_kafka import Launcher
from tests.support.controller.live.broker_traffic import consume, create, produce, until_broker
from tests.support.controller.live.java_nodes import JavaNodes, until_caught_up, until_voters
from tests.support.controller.pem_stores import stores
from tests.support.controller.sasl_listeners import (
    ADMIN_PASSWORD,
    ALICE,
    ALICE_PASSWORD,
    FIRST_CREDENTIALS,
    MODULES,
    plain,
    sasl_listener,
    scram,
)
from tests.support.eventually import eventually

QUORUM_COMMAND = "org.apache.kafka.tools.MetadataQuorumCommand"


def client_properties(
    path: Path, mechanism: str, password: str, tls: dict[str, str] | None = None
) -> str:
    """Alice's file for --command-config."""
    kind = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
    login = f'username="{ALICE}" password="{password}"'
    pairs = {
        "security.protocol": "SASL_SSL" if tls else "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": f"{MODULES}.{kind} required {login};",
        **(tls or {}),
    }
    path.write_text(properties_text(pairs))
    return str(path)


def asked(node: RunningNode, quorum: Quorum, config: str) -> tuple[int, str]:
    """Ask for the quorum by Kafka's tool."""
    told = node.tool(
        QUORUM_COMMAND,
        *("--bootstrap-controller", quorum.bootstrap_controllers, "--command-config", config),
        *("describe", "--status"),
    )
    return told.returncode, told.stdout + told.stderr


def work(bootstrap: str) -> list[int]:
    create(bootstrap, "sealed", partitions=1, replicas=1)
    produce(bootstrap, "sealed", 20)
    return consume(bootstrap, "sealed", 20)


@pytest.mark.parametrize(
    ("version", "mechanism"),
    [
        ("4.3.1", "SCRAM-SHA-512"),
        pytest.param("4.4.0", "PLAIN", marks=pytest.mark.releases),
    ],
)
async def test_a_broker_of_kafkas_boots_over_sasl_and_serves_clients(
    kafka: Launcher, version: str, mechanism: str, tmp_path: Path
) -> None:
    properties = sasl_listener(mechanism)
    async with Quorum(3, properties=properties, scram=FIRST_CREDENTIALS) as quorum:
        java = JavaNodes(kafka, quorum, version)
        try:
            broker = java.make(1, "broker", properties)
            await asyncio.to_thread(broker.start)
            await until_broker(quorum, 1, active=True)
            assert await asyncio.to_thread(work, str(broker.broker_address)) == list(range(20))

            # Kafka's tool and kwire's admin client log in by the same file.
            good = client_properties(tmp_path / "good", mechanism, ALICE_PASSWORD)
            code, told = await asyncio.to_thread(asked, broker, quorum, good)
            leader = await quorum.active_controller()
            assert code == 0, told
            assert re.search(rf"LeaderId:\s+{leader.node_id}\b", told)
            security = read_security(Path(good))
            async with AdminClient(
                bootstrap_controllers=quorum.bootstrap_controllers, security=security
            ) as admin:
                assert (await admin.describe_metadata_quorum()).leader_id == leader.node_id

            wrong = client_properties(tmp_path / "wrong", mechanism, "wrong")
            code, told = await asyncio.to_thread(asked, broker, quorum, wrong)
            assert code == 1
            assert "SaslAuthenticationException: Authentication failed: wrong credentials" in told
        finally:
            await asyncio.to_thread(java.close)


async def test_a_broker_with_a_wrong_password_says_so(kafka: Launcher) -> None:
    properties = sasl_listener("PLAIN")
    async with Quorum(1, properties=properties) as quorum:
        await quorum.wait_for_leader()
        java = JavaNodes(kafka, quorum)
        try:
            name = "listener.name.controller.plain.sasl.jaas.config"
            wrong = properties[name].replace(f'password="{ADMIN_PASSWORD}"', 'password="wrong"')
            broker = java.make(1, "broker", properties | {name: wrong})
            starting = asyncio.create_task(asyncio.to_thread(broker.start))
            told = "wrong credentials for PLAIN"
            await eventually(broker.log, lambda log: told in log, pause=0.2)
            assert ADMIN_PASSWORD not in broker.log()
            await asyncio.to_thread(broker.kill)
            await asyncio.gather(starting, return_exceptions=True)
        finally:
            await asyncio.to_thread(java.close)


@pytest.mark.parametrize(
    "mechanism", ["SCRAM-SHA-256", pytest.param("PLAIN", marks=pytest.mark.nightly)]
)
async def test_a_controller_of_kafkas_joins_over_sasl_and_tls_and_outlives_the_leader(
    kafka: Launcher, mechanism: str
) -> None:
    authority = trustme.CA()
    written = stores(authority, "127.0.0.1", "localhost")
    listener = sasl_listener(mechanism, protocol="SASL_SSL")
    read = parse_properties("".join(f"{name}={value}\n" for name, value in written.items()))
    async with Quorum(2, properties=listener | read, scram=FIRST_CREDENTIALS) as quorum:
        java = JavaNodes(kafka, quorum)
        try:
            own = {**listener, **written, "controller.quorum.auto.join.enable": "true"}
            joining = java.make(3200, "controller", own)
            await asyncio.to_thread(joining.start)
            leader = await quorum.active_controller()
            await until_voters(leader, {3000, 3001, 3200})
            # A controller of Kafka's that has not read that it votes refuses every pre-vote.
            login = plain() if mechanism == "PLAIN" else scram(Mechanism.SCRAM_SHA_256)
            trusted = ssl.create_default_context(cadata=authority.cert_pem.bytes().decode())
            await until_caught_up(leader, 3200, tls=trusted, sasl=login)
            await leader.kill()
            (other,) = quorum.nodes.values()
            async with asyncio.timeout(60):
                await other.metadata.until(
                    lambda: other.metadata.is_active or other.raft.leader_id == 3200
                )
            assert joining.alive
        finally:
            await asyncio.to_thread(java.close)
