"""Faults without any fault of the cluster."""

from kwire.codec.declaration import Request
from tests.support.conform.clients.model_client import ModelClient, ModelConnection


class Mute(ModelClient):
    """Sends nothing."""

    async def run(self) -> int:
        """Be content at once."""
        return 0


class LeftOvers(ModelClient):
    """Sends a byte behind each request."""

    async def send(self, connection: ModelConnection, request: Request, version: int) -> int:
        """Write a request, and a byte that its size has."""
        number, data = self.encoded(connection, request, version)
        size = int.from_bytes(data[:4], "big") + 1
        connection.writer.write(size.to_bytes(4, "big") + data[4:] + b"\0")
        return number


FAULTS = {"client/start": Mute, "client/requests": LeftOvers}
