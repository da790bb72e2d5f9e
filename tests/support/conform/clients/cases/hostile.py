"""Faults of those who believe every answer."""

from kwire.batches.current import RecordBatch
from kwire.batches.record import Record
from tests.support.conform.clients.model_client import ModelClient


class Swelling(ModelClient):
    """Takes memory for whatever an answer that it cannot read says that it has."""

    def forget_metadata(self, error: Exception) -> None:
        """Keep the memory of a failed answer."""
        super().forget_metadata(error)
        self.memory += 1 << 30


class Unchecking(Swelling):
    """Looks at no CRC."""

    def records(self, batch: RecordBatch) -> list[Record]:
        """Return the records of a batch."""
        return list(batch.records())


FAULTS: dict[str, type[ModelClient]] = {
    "client/hostile": Swelling,
    "client/hostile/40": Unchecking,
}
