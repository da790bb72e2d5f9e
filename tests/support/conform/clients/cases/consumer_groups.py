"""Faults of members of KIP-848's groups."""

from tests.support.conform.clients.cases.groups import Boasting, Leaving, Storming
from tests.support.conform.clients.members import Member
from tests.support.conform.clients.model_client import ModelClient


class Terse(Member):
    """Joins without its time for a rebalance."""

    async def heartbeat_anew(self, node: int) -> None:
        """Join with the epoch 0."""
        await self.beat(node, subscribed_topic_names=(self.topic,))


FAULTS: dict[str, type[ModelClient]] = {
    "client/consumer-groups": Leaving,
    "client/consumer-groups/1": Terse,
    "client/consumer-groups/11": Boasting,
    **{f"client/consumer-groups/{number}": Storming for number in (20, 21, 22)},
}
