"""Faults of the way to a cluster."""

from kwire.messages import DescribeClusterRequest
from tests.support.conform.clients.cases.versions import Presumptuous
from tests.support.conform.clients.model_client import BOOTSTRAP, ModelClient


class Lost(ModelClient):
    """Never goes back to the bootstrap servers."""

    limit = 0.3

    def rebootstrap(self) -> None:
        """Begin again at the brokers it knows."""
        known, self.addresses = self.addresses, {}
        super().rebootstrap()
        self.addresses = known


class Settled(ModelClient):
    """Never leaves a connection that works."""

    def rebootstrap(self) -> None:
        """Stay."""


class OfBrokers(ModelClient):
    """Asks controllers for brokers."""

    limit = 0.2

    async def controllers(self) -> None:
        """Describe the cluster, and take what comes."""
        await self.ask(BOOTSTRAP, DescribeClusterRequest(endpoint_type=1))


FAULTS = {
    "client/bootstrap": Lost,
    "client/bootstrap/2": Settled,
    "client/bootstrap/3": OfBrokers,
    "client/bootstrap/4": OfBrokers,
    "client/bootstrap/5": Presumptuous,
}
