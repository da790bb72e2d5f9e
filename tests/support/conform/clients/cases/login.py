"""Faults of logins, and of who is trusted."""

import ssl
from math import inf
from typing import Any

from kwire.messages import MetadataRequest, SaslHandshakeRequest
from tests.support.conform.clients.cases.sequences import Impatient
from tests.support.conform.clients.model_client import Disconnected, ModelClient, ModelConnection


class Hasty(ModelClient):
    """Asks before it logs in."""

    async def login(self, node: int) -> None:
        """Ask before the node knows who it is."""
        await self.exchange(node, SaslHandshakeRequest(mechanism="PLAIN"), 1)
        await self.exchange(node, MetadataRequest(), 1)


class Deaf(ModelClient):
    """Logs in with a mechanism that was refused."""

    def take_handshake(self, answer: Any) -> None:
        """Believe that all is well."""


class Staying(ModelClient):
    """Logs in once."""

    limit = 10.0

    async def login(self, node: int) -> None:
        """Log in for ever."""
        await super().login(node)
        self.connections[node].login_again_at = inf


class Distrustful(ModelClient):
    """Trusts nobody but the first node."""

    async def connect(self, node: int) -> ModelConnection:
        """Return the connection to a node."""
        if node == 2:
            raise Disconnected("node 2")
        return await super().connect(node)


class Trustful(ModelClient):
    """Trusts everybody."""

    def tls(self) -> ssl.SSLContext:
        """Return how it speaks TLS."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context


class Trying(Impatient):
    """Tries everything again at once, and needs no more than a second for it."""


FAULTS: dict[str, type[ModelClient]] = {
    "client/login/1": Hasty,
    "client/login/2": Trying,
    "client/login/3": Deaf,
    "client/login/4": Staying,
    "client/login/10": Distrustful,
    "client/login/11": Trustful,
    "client/login/12": Trustful,
}
