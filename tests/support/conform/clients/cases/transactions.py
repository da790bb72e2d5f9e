"""Faults of transactional producers."""

from kwire.conform.clients.cases.transactions import SECTION
from tests.support.conform.clients.model_client import ModelClient, Refused
from tests.support.conform.clients.transactional import TransactionalClient


class GivingUp(TransactionalClient):
    """Tries nothing again."""

    def may_repeat(self, error: Exception) -> bool:
        """Never."""
        return False


class Committing(TransactionalClient):
    """Commits after each error."""

    async def init_transactions(self) -> None:
        """Get the producer id, or do without."""
        try:
            await super().init_transactions()
        except Refused:
            self.coordinator = 1

    async def write_in_transaction(self, value: str, sequence: int) -> None:
        """Send a record, and take every answer for a good one."""
        try:
            await super().write_in_transaction(value, sequence)
        except Refused:
            await self.commit_anyway()

    async def commit_anyway(self) -> None:
        """Commit."""
        await super().end(committed=True)

    async def end(self, *, committed: bool) -> None:
        """Commit, and take every answer for a good one."""
        try:
            await super().end(committed=True)
        except Refused:
            self.say("committed")


class Early(TransactionalClient):
    """Adds no partition."""

    is_added = True


class Adding(TransactionalClient):
    """Adds partitions that Produce would add."""

    async def add_partition(self) -> None:
        """Add the partition, in the way of version 1."""
        second, self.is_second = self.is_second, lambda: False  # type: ignore[method-assign]
        await super().add_partition()
        self.is_second = second  # type: ignore[method-assign]


class Pressing(TransactionalClient):
    """Tries everything again at once."""

    limit = 2.0

    def may_repeat(self, error: Exception) -> bool:
        """Always."""
        return True

    async def pause(self, seconds: float) -> None:
        """Not at all."""


REFUSED = [case.id for case in SECTION if 20 <= int(case.id.rpartition("/")[2]) < 40]
FAULTS: dict[str, type[ModelClient]] = {
    "client/transactions": GivingUp,
    **dict.fromkeys(REFUSED, Committing),
    "client/transactions/30": Pressing,
    "client/transactions/50": Early,
    "client/transactions/51": Adding,
}
