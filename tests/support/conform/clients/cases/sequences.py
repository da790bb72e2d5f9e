"""Faults of idempotent producers."""

from tests.support.conform.clients.model_client import ModelClient, Refused


class Renumbering(ModelClient):
    """Takes a new sequence for each try."""

    async def write(self, value: str, sequence: int) -> None:
        """Send a record, once."""
        self.sequence += 1
        await super().write(value, self.sequence)

    async def settle(self, leader: int, sent: dict[int, str], version: int) -> None:
        """Take all for lost, as it is where an answer is missing."""
        self.drop(leader)
        self.sequence = len(self.values) - 1
        await self.tell_burst({})


class Going(ModelClient):
    """Goes on with the next sequence after a record that failed."""

    def begin_anew(self) -> None:
        """Do not."""


class Inventive(ModelClient):
    """Takes a producer id of its own where it gets none."""

    async def init_producer(self) -> None:
        """Get a producer id, somehow."""
        try:
            await super().init_producer()
        except Refused:
            self.producer_id, self.producer_epoch = 7, 0


class Impatient(ModelClient):
    """Tries everything again at once."""

    limit = 2.0

    def may_repeat(self, error: Exception) -> bool:
        """Always."""
        return True

    async def pause(self, seconds: float) -> None:
        """Not at all."""


FAULTS: dict[str, type[ModelClient]] = {
    "client/sequences": Renumbering,
    "client/sequences/10": Going,
    "client/sequences/11": Going,
    "client/sequences/12": Going,
    "client/sequences/13": Inventive,
}
