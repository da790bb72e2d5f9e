"""A controller of kwire's whose listener wants SASL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from faults_lab.registered_broker import NO_SESSIONS
from kwire.net.address import Address
from kwire.testing.quorum import Quorum
from simulated_broker import SimulatedBroker
from tests.support.controller.sasl_listeners import (
    ADMIN,
    ADMIN_PASSWORD,
    ALICE,
    FIRST_CREDENTIALS,
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
