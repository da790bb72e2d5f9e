"""A controller of kwire's whose listener wants SASL, and properties of those who log in to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from faults_lab.registered_broker import NO_SESSIONS
from kwire.controller.server.quorum import Quorum
from kwire.net.address import Address
from kwire.text.properties import properties_text
from simulated_broker import SimulatedBroker
from tests.support.controller.sasl_listeners import (
    ADMIN,
    ADMIN_PASSWORD,
    ALICE,
    FIRST_CREDENTIALS,
    MODULES,
    SCRAM,
    plain,
    sasl_listener,
)

PROPERTIES = {
    **NO_SESSIONS,
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": f"User:{ADMIN};User:{ALICE}",
    "delegation.token.secret.key": "a-key",
}


@asynccontextmanager
async def quorum_with_logins(session_ms: int) -> AsyncIterator[Address]:
    """A controller, and a broker that is only registered; yields the controller's address."""
    properties = sasl_listener("PLAIN", *SCRAM) | PROPERTIES
    properties["connections.max.reauth.ms"] = str(session_ms)
    async with Quorum(1, properties=properties, scram=FIRST_CREDENTIALS) as quorum:
        await quorum.wait_for_leader()
        host, port = quorum.addresses[3000]
        broker = await SimulatedBroker.open(1, host, port, sasl=plain(ADMIN, ADMIN_PASSWORD))
        await broker.close()
        yield Address(host, port)


def admin_properties(path: Path) -> Path:
    """The file of a proxy's own connections, as the administrator."""
    login = f'username="{ADMIN}" password="{ADMIN_PASSWORD}"'
    pairs = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f"{MODULES}.plain.PlainLoginModule required {login};",
    }
    path.write_text(properties_text(pairs))
    return path
