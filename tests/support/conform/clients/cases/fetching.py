"""Faults of consumers."""

from collections.abc import Iterator, Sequence
from typing import Any

from kwire.batches.current import RecordBatch
from kwire.batches.record import Record
from kwire.error_codes import ErrorCode
from tests.support.conform.clients.cases.errors import Quitter
from tests.support.conform.clients.members import Member
from tests.support.conform.clients.model_client import Disconnected, ModelClient


class Standing(ModelClient):
    """Counts no epochs of its session."""

    limit = 1.0

    def next_epoch(self, session_id: int) -> None:
        """Stay at the first."""
        self.session = session_id, 1


class Clinging(ModelClient):
    """Keeps its session after an error."""

    limit = 1.0

    def forget_metadata(self, error: Exception) -> None:
        """Keep the session."""
        session = self.session
        super().forget_metadata(error)
        self.session = session


class Inventing(ModelClient):
    """Makes up what is not there."""

    def take_records(self, part: Any) -> Sequence[str]:
        """Return the values of a partition's records, or what they may have been."""
        values = super().take_records(part)
        return ("r0",) if part.error_code == ErrorCode.OFFSET_OUT_OF_RANGE else values


class Showing(ModelClient):
    """Shows control records."""

    def records(self, batch: RecordBatch) -> list[Record]:
        """Return all records of a batch."""
        return list(batch.records())


class Stopping(ModelClient):
    """Takes a batch without records for the end."""

    limit = 1.0

    def records(self, batch: RecordBatch) -> list[Record]:
        """Return the records of a batch, of which there have to be some."""
        if not batch.count:
            raise Disconnected("a batch without records")
        return super().records(batch)


class Whole(ModelClient):
    """Takes a part of a batch for an error."""

    def batches(self, data: bytes) -> Iterator[RecordBatch]:
        """Yield the batches of an answer."""
        size = 0
        for batch in super().batches(data):
            size += len(batch.data)
            yield batch
        if size < len(data):
            raise Disconnected("a part of a batch")

    def may_repeat(self, error: Exception) -> bool:
        """Never."""
        return False


class Repeating(Member):
    """Shows records from before the offset that it asked for."""

    def records(self, batch: RecordBatch) -> list[Record]:
        """Return all records of a batch."""
        return list(batch.records())


class Reversing(ModelClient):
    """Shows the records of a batch in the wrong order."""

    def records(self, batch: RecordBatch) -> list[Record]:
        """Return the records of a batch, the last one first."""
        return super().records(batch)[::-1]


FAULTS: dict[str, type[ModelClient]] = {
    "client/fetch": Reversing,
    "client/fetch/1": Standing,
    "client/fetch/2": Clinging,
    "client/fetch/3": Clinging,
    "client/fetch/4": Quitter,
    "client/fetch/10": Inventing,
    "client/fetch/11": Showing,
    "client/fetch/12": Stopping,
    "client/fetch/13": Whole,
    "client/fetch/14": Repeating,
}
