"""Faults of the negotiation of versions."""

from typing import Any

from kwire.codec.declaration import Request
from kwire.error_codes import ErrorCode
from kwire.messages import ApiVersionsRequest
from tests.support.conform.clients.model_client import ModelClient, ModelConnection, demand


class Lowest(ModelClient):
    """Sends the lowest version that a node offers."""

    limit = 0.5

    def version(self, connection: ModelConnection, api: type[Request]) -> int:
        """Return the lowest."""
        assert api.key is not None
        return max(connection.versions[api.key].min_version, api.versions.first)


class Presumptuous(ModelClient):
    """Sends the highest version that it knows."""

    limit = 0.2

    def version(self, connection: ModelConnection, api: type[Request]) -> int:
        """Return its own highest."""
        return api.versions.last


class Strict(ModelClient):
    """Gives up where a node offers an API that it does not know."""

    async def negotiate(self, node: int) -> None:
        """Ask for versions, and look at each API."""
        await super().negotiate(node)
        demand(ErrorCode.UNSUPPORTED_VERSION * (999 in self.connections[node].versions))


class FromZero(ModelClient):
    """Asks in v0 where its ApiVersions is refused, whatever it is told."""

    async def exchange(self, node: int, request: Request, version: int) -> Any:
        """Send a lower version as 0."""
        lower = (
            isinstance(request, ApiVersionsRequest) and version < ApiVersionsRequest.versions.last
        )
        return await super().exchange(node, request, 0 if lower else version)


class OnlyNewest(ModelClient):
    """Knows no older ApiVersions."""

    limit = 0.3

    async def exchange(self, node: int, request: Request, version: int) -> Any:
        """Send it as the newest."""
        if isinstance(request, ApiVersionsRequest):
            version = ApiVersionsRequest.versions.last
        return await super().exchange(node, request, version)


class OnceForAll(ModelClient):
    """Takes the versions of the first connection for those of all others."""

    limit = 0.3

    async def negotiate(self, node: int) -> None:
        """Ask the first time only."""
        if not hasattr(self, "known"):
            await super().negotiate(node)
            self.known = self.connections[node].versions
        self.connections[node].versions = self.known


FAULTS = {
    "client/versions": Lowest,
    "client/versions/2": Strict,
    **dict.fromkeys([f"client/versions/{number}" for number in range(13, 18)], Presumptuous),
    "client/versions/18": FromZero,
    "client/versions/19": OnlyNewest,
    "client/versions/20": OnceForAll,
    "client/versions/21": OnceForAll,
}
