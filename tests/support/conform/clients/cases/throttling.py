"""Faults of the rest that a node asks for."""

from tests.support.conform.clients.model_client import ModelClient, ModelConnection


class Restless(ModelClient):
    """Does not look at throttle times."""

    def rest(self, connection: ModelConnection) -> float:
        """Return no time."""
        return 0.0


FAULTS = {"client/throttling": Restless}
