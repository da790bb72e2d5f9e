"""Faults of metadata."""

from typing import Any

from tests.support.conform.clients.model_client import ModelClient, Moved, demand


class Conservative(ModelClient):
    """Asks for metadata once."""

    limit = 0.3

    def forget_metadata(self, error: Exception) -> None:
        """Keep it."""

    def take_written(self, answer: Any) -> None:
        """Read the answer to a Produce."""
        demand(answer.responses[0].partition_responses[0].error_code)


class Follower(Conservative):
    """Looks at metadata only, not at leaders that other answers name."""

    def forget_metadata(self, error: Exception) -> None:
        """Ask for it again."""
        assert not isinstance(error, Moved)
        self.topic_metadata = None


FAULTS = {"client/metadata": Conservative, "client/metadata/5": Follower}
