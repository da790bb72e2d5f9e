"""Kafka's brokers and their clients are known by certificates, and the ACLs are kwire's.

The brokers ask kwire's controllers with a principal that ssl.principal.mapping.rules makes of their
certificate (KIP-371); their own authorizer decides by the ACLs of the log that they replicate.
"""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest
import trustme

from kwire.controller.authorization.standard_authorizer import CLASS_NAME
from kwire.error_codes import ErrorCode
from kwire.messages.a03_metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.testing.local_kafka.running import RunningNode
from kwire.testing.quorum import Quorum
from kwire.text.properties import parse_properties
from real_kafka import Launcher
from tests.support.controller.live.broker_traffic import until_broker
from tests.support.controller.live.java_nodes import JavaNodes
from tests.support.controller.pem_stores import stores
from tests.support.eventually import eventually

HOSTS = ("127.0.0.1", "localhost")
AUTHORIZED = {
    "listener.security.protocol.map": "CONTROLLER:SSL,PLAINTEXT:SSL",
    "ssl.client.auth": "required",
    "ssl.principal.mapping.rules": "RULE:^(CN=[^,]+),.*$/$1/,DEFAULT",
    "authorizer.class.name": CLASS_NAME,
    "super.users": "User:CN=controller;User:CN=broker;User:CN=operator",
}
"""The brokers' listener is named PLAINTEXT, and wants certificates as well."""


class Client:
    """A client of a broker with a certificate of its own."""

    def __init__(self, authority: trustme.CA, name: str, folder: Path) -> None:
        self._certificate = authority.issue_cert(*HOSTS, common_name=name)
        self._authority = authority
        self._folder = folder

    async def codes(self, broker: Address, *, validate_only: bool = True) -> tuple[int, int]:
        """The errors of the topic `orders`: of a look, and of its creation, if only for a try.

        The broker answers the first itself; it has the second from kwire's controller.
        """
        trusted = ssl.create_default_context()
        self._authority.configure_trust(trusted)
        self._certificate.configure_cert(trusted)
        looks = MetadataRequest(
            topics=[MetadataRequestTopic(name="orders")], allow_auto_topic_creation=False
        )
        creates = CreateTopicsRequest(
            topics=[CreatableTopic(name="orders", num_partitions=1, replication_factor=1)],
            validate_only=validate_only,
            timeout_ms=30_000,
        )
        async with await Connection.open(broker.host, broker.port, ssl=trusted) as connection:
            found, created = [await connection.send(request) for request in (looks, creates)]
        assert isinstance(found, MetadataResponse)
        assert isinstance(created, CreateTopicsResponse)
        return found.topics[0].error_code, created.topics[0].error_code

    def produce(self, broker: Address) -> int:
        """Write a record to `orders`; its offset."""
        from kafka import KafkaProducer

        trusted, own = self._folder / "ca.pem", self._folder / "own.pem"
        self._authority.cert_pem.write_to_path(str(trusted))
        self._certificate.private_key_and_cert_chain_pem.write_to_path(str(own))
        producer = KafkaProducer(
            bootstrap_servers=str(broker),
            security_protocol="SSL",
            ssl_cafile=str(trusted),
            ssl_certfile=str(own),
        )
        try:
            return int(producer.send("orders", b"one").get(timeout=60).offset)
        finally:
            producer.close()


def pem(authority: trustme.CA, name: str) -> dict[str, str]:
    """The stores of a node or a tool, in one line each, as a file of properties has them."""
    return stores(authority, *HOSTS, common_name=name)


def text(written: dict[str, str]) -> str:
    return "".join(f"{name}={value}\n" for name, value in written.items())


def add_acls(broker: RunningNode, config: Path) -> None:
    """Let alice create and write `orders`, with Kafka's tool and the operator's file."""
    told = broker.tool(
        "org.apache.kafka.tools.AclCommand",
        *("--bootstrap-server", str(broker.broker_address), "--command-config", str(config)),
        *("--add", "--allow-principal", "User:CN=alice", "--producer", "--topic", "orders"),
    )
    assert told.returncode == 0, told.stderr


@pytest.mark.parametrize("version", ["4.3.1", pytest.param("4.4.0", marks=pytest.mark.releases)])
async def test_a_client_is_denied_until_its_certificates_name_has_acls(
    kafka: Launcher, version: str, tmp_path: Path
) -> None:
    authority = trustme.CA()
    properties = AUTHORIZED | parse_properties(text(pem(authority, "controller")))
    async with Quorum(1, properties=properties) as quorum:
        java = JavaNodes(kafka, quorum, version)
        try:
            broker = java.make(1, "broker", AUTHORIZED | pem(authority, "broker"))
            await asyncio.to_thread(broker.start)
            await until_broker(quorum, 1, active=True)
            at = broker.broker_address
            alice = Client(authority, "alice", tmp_path)
            operator = Client(authority, "operator", tmp_path)
            denied, unknown = (
                ErrorCode.TOPIC_AUTHORIZATION_FAILED,
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            )
            assert await alice.codes(at) == (denied, denied)
            assert await operator.codes(at) == (unknown, 0)

            config = tmp_path / "operator.properties"
            config.write_text(text({"security.protocol": "SSL"} | pem(authority, "operator")))
            await asyncio.to_thread(add_acls, broker, config)
            # The broker follows the log: an ACL is in force there soon after the answer.
            await eventually(lambda: alice.codes(at), lambda codes: codes == (unknown, 0))
            assert await alice.codes(at, validate_only=False) == (unknown, 0)
            assert await asyncio.to_thread(alice.produce, at) == 0
            leader = await quorum.active_controller()
            principals = {acl.principal for acl in leader.metadata.image.acls.by_id.values()}
            assert principals == {"User:CN=alice"}
        finally:
            await asyncio.to_thread(java.close)
