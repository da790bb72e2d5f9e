"""Faults of connections, and of the ids in them."""

from kwire.codec.declaration import Request
from tests.support.conform.clients.cases.errors import Quitter
from tests.support.conform.clients.model_client import ModelClient, ModelConnection


class ByOrder(ModelClient):
    """Looks at the order of answers, not at their ids."""

    taken = 0

    def matched(self, number: int, sent: list[int]) -> int:
        """Return the next request."""
        self.taken += len(sent) > 1
        return sent[(self.taken - 1) % len(sent)]


class Numberless(ModelClient):
    """Gives all requests the same id."""

    def encoded(
        self, connection: ModelConnection, request: Request, version: int
    ) -> tuple[int, bytes]:
        """Return the id, and a request's frame with it."""
        connection.next_id = 7
        return super().encoded(connection, request, version)


FAULTS = {
    "client/connections": Quitter,
    **dict.fromkeys([f"client/connections/{number}" for number in (6, 16, 26, 36)], ByOrder),
    "client/connections/41": Numberless,
    "client/connections/42": ByOrder,
}
