"""Faults of the pauses between tries."""

from tests.support.conform.clients.model_client import ModelClient


class Impatient(ModelClient):
    """Tries again at once."""

    async def pause(self, seconds: float) -> None:
        """Do not."""

    def forget_metadata(self, error: Exception) -> None:
        """Keep it, so that there is no time between two tries on a busy machine either."""


class Steady(ModelClient):
    """Makes pauses that do not grow."""

    async def pause(self, seconds: float) -> None:
        """Make the same one."""
        await super().pause(0.15)


FAULTS = {"client/backoff": Impatient, "client/backoff/1": Steady}
