"""AllocateProducerIds, API key 67."""

from __future__ import annotations

from kwire.codec.declaration import Request, Response
from kwire.codec.notation import field, int16, int32, int64


class AllocateProducerIdsRequest(
    Request, key=67, versions="0", flexible="0+", listeners="controller"
):
    """A broker asks the controller for a fresh block of producer ids (KIP-730)."""

    broker_id: int = int32
    broker_epoch: int = field(int64, default=-1)


class AllocateProducerIdsResponse(Response, key=67, versions="0", flexible="0+"):
    """The controller gives the first id of a block and its length (KIP-730)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    producer_id_start: int = int64
    producer_id_len: int = int32
