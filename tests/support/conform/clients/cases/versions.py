"""Faults of the negotiation of versions."""

from kwire.codec.declaration import Request
from kwire.error_codes import ErrorCode
from tests.support.conform.clients.model_client import ModelClient, ModelConnection, demand


class Lowest(ModelClient):
    """Sends the lowest version that a node offers."""

    def version(self, connection: ModelConnection, api: type[Request]) -> int:
        """Return the lowest."""
        assert api.key is not None
        return max(connection.versions[api.key].min_version, api.versions.first)


class Strict(ModelClient):
    """Gives up where a node offers an API that it does not know."""

    async def negotiate(self, node: int) -> None:
        """Ask for versions, and look at each API."""
        await super().negotiate(node)
        demand(ErrorCode.UNSUPPORTED_VERSION * (999 in self.connections[node].versions))


FAULTS = {"client/versions/1": Lowest, "client/versions/2": Strict}
