"""TransactionLog, a record of a coordinator's topic."""

from __future__ import annotations

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue, Group
from kwire.codec.notation import array, int8, int16, int32, int64, nullable, string, tagged


class TransactionLogKey(CoordinatorKey, key=0, versions="0"):
    """Keys the state of a transaction by its transactional id (KIP-98)."""

    transactional_id: str = string


class PartitionsSchema(Group):
    topic: str = string
    partition_ids: tuple[int, ...] = array(int32)


class TransactionLogValue(CoordinatorValue, key=0, versions="0-1", flexible="1+"):
    """Holds a transaction's producer, state, timeout and partitions (KIP-98)."""

    producer_id: int = int64
    previous_producer_id: int = tagged(0, int64, "1+", default=-1)
    next_producer_id: int = tagged(1, int64, "1+", default=-1)
    producer_epoch: int = int16
    next_producer_epoch: int = tagged(3, int16, "1+", default=-1)
    transaction_timeout_ms: int = int32
    transaction_status: int = int8
    transaction_partitions: list[PartitionsSchema] | None = nullable(array(PartitionsSchema))
    transaction_last_update_timestamp_ms: int = int64
    transaction_start_timestamp_ms: int = int64
    client_transaction_version: int = tagged(2, int16, "1+")
