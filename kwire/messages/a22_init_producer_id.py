"""InitProducerId, API key 22."""

from __future__ import annotations

from kwire.codec.declaration import Request, Response
from kwire.codec.notation import boolean, field, int16, int32, int64, nullable, since, string


class InitProducerIdRequest(
    Request, key=22, versions="0-6", flexible="2+", listeners="broker", unstable="6"
):
    """A producer obtains an id and an epoch, which fence off its predecessors (KIP-98)."""

    transactional_id: str | None = nullable(string)
    transaction_timeout_ms: int = int32
    producer_id: int = since(3, int64, default=-1)
    producer_epoch: int = since(3, int16, default=-1)
    enable2_pc: bool = since(6, boolean)
    keep_prepared_txn: bool = since(6, boolean)


class InitProducerIdResponse(Response, key=22, versions="0-6", flexible="2+"):
    """A broker gives a producer the id and the epoch to write with (KIP-98)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    producer_id: int = field(int64, default=-1)
    producer_epoch: int = int16
    ongoing_txn_producer_id: int = since(6, int64, default=-1)
    ongoing_txn_producer_epoch: int = since(6, int16, default=-1)
