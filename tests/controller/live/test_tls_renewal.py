"""Certificates of kwire's controllers change while a controller of Kafka's votes with them."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest
import trustme
from cryptography.x509 import load_der_x509_certificate

from kwire.controller.server.node import ControllerNode
from kwire.testing.quorum import Quorum
from real_kafka import Launcher
from tests.support.controller.live.java_nodes import JavaNodes, until_caught_up, until_voters
from tests.support.controller.pem_stores import CONTROLLERS, stores
from tests.support.eventually import eventually

pytestmark = pytest.mark.nightly

HOSTS = ("127.0.0.1", "localhost")
JAVA = 3200


class Authorities:
    """Two authorities, the key file of kwire's controllers, and what each side trusts."""

    def __init__(self, folder: Path) -> None:
        self.first, self.second = trustme.CA(), trustme.CA()
        self.keystore, self.truststore = folder / "keys.pem", folder / "authorities.pem"
        self.truststore_of_java = folder / "authorities-of-java.pem"
        for truststore in (self.truststore, self.truststore_of_java):
            truststore.write_bytes(self.first.cert_pem.bytes() + self.second.cert_pem.bytes())
        self.renew(self.first)

    def renew(self, issuer: trustme.CA) -> None:
        """Write another key and certificate for the same controllers."""
        own = issuer.issue_cert(
            *HOSTS, organization_name="kwire", organization_unit_name="controllers"
        )
        chain = b"".join(one.bytes() for one in own.cert_chain_pems)
        self.keystore.write_bytes(own.private_key_pem.bytes() + chain)

    @property
    def of_kwire(self) -> dict[str, str]:
        """The properties of kwire's controllers, who demand certificates of each other."""
        return {
            **CONTROLLERS,
            "ssl.client.auth": "required",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.keystore),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.truststore),
        }

    @property
    def of_java(self) -> dict[str, str]:
        """The properties of Kafka's controller, certified by the second authority."""
        own = stores(self.second, *HOSTS)
        del own["ssl.truststore.certificates"]
        return {
            **CONTROLLERS,
            **own,
            "ssl.client.auth": "required",
            "ssl.truststore.location": str(self.truststore_of_java),
            "controller.quorum.auto.join.enable": "true",
        }

    def client(self, *trusted: trustme.CA) -> ssl.SSLContext:
        """The context of a client that trusts these only."""
        context = ssl.create_default_context(
            cadata="".join(authority.cert_pem.bytes().decode() for authority in trusted)
        )
        self.second.issue_cert("client").configure_cert(context)
        return context


async def issuer(node: ControllerNode, context: ssl.SSLContext) -> str:
    """The issuer of the certificate that a new connection gets."""
    port = node.config.listeners[0].port
    _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    try:
        der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        return load_der_x509_certificate(der).issuer.rfc4514_string()
    finally:
        writer.close()


def name(authority: trustme.CA) -> str:
    der = ssl.PEM_cert_to_DER_cert(authority.cert_pem.bytes().decode())
    return load_der_x509_certificate(der).subject.rfc4514_string()


def end_connections(node: ControllerNode) -> None:
    """Cut everything that is open at a controller, as a firewall does."""
    for listener in node._listeners:
        for transport in listener._serving.values():
            transport.abort()


@pytest.mark.parametrize("version", ["4.3.1", pytest.param("4.4.0", marks=pytest.mark.releases)])
async def test_kafkas_controller_reconnects_to_renewed_certificates(
    kafka: Launcher, version: str, tmp_path: Path
) -> None:
    authorities = Authorities(tmp_path)
    first, second = authorities.first, authorities.second
    async with Quorum(2, properties=authorities.of_kwire) as quorum:
        java = JavaNodes(kafka, quorum, version)
        try:
            joining = java.make(JAVA, "controller", authorities.of_java)
            await asyncio.to_thread(joining.start)
            leader = await quorum.active_controller()
            await until_voters(leader, {3000, 3001, JAVA})
            trusted = authorities.client(first, second)
            await until_caught_up(leader, JAVA, tls=trusted)
            epoch = leader.raft.epoch
            assert await issuer(leader, trusted) == name(first)

            authorities.renew(second)
            for node in quorum.nodes.values():
                await eventually(
                    lambda node=node: issuer(node, trusted),  # type: ignore[misc]
                    lambda seen: seen == name(second),
                    timeout=60,
                    pause=0.5,
                )
            # New connections of all three show the second authority's certificates.
            end_connections(leader)
            await until_caught_up(leader, JAVA, tls=trusted)
            # Now Kafka's controller trusts no other: the old certificate would be refused.
            await asyncio.to_thread(joining.kill)
            authorities.truststore_of_java.write_bytes(second.cert_pem.bytes())
            await asyncio.to_thread(joining.start)
            await until_caught_up(leader, JAVA, tls=authorities.client(second))
            assert (leader.raft.epoch, leader.raft.role) == (epoch, "leader")

            # And it votes, by requests that kwire's candidate sends it.
            await leader.kill()
            (other,) = quorum.nodes.values()
            async with asyncio.timeout(60):
                await other.metadata.until(
                    lambda: other.metadata.is_active or other.raft.leader_id == JAVA
                )
            assert joining.alive
        finally:
            await asyncio.to_thread(java.close)
