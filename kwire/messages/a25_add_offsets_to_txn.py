"""AddOffsetsToTxn, API key 25."""

from __future__ import annotations

from kwire.codec.declaration import Request, Response
from kwire.codec.notation import int16, int32, int64, string


class AddOffsetsToTxnRequest(Request, key=25, versions="0-4", flexible="3+", listeners="broker"):
    """A producer announces that its transaction will commit a group's offsets (KIP-98)."""

    transactional_id: str = string
    producer_id: int = int64
    producer_epoch: int = int16
    group_id: str = string


class AddOffsetsToTxnResponse(Response, key=25, versions="0-4", flexible="3+"):
    """The coordinator says whether the transaction may commit offsets (KIP-98)."""

    throttle_time_ms: int = int32
    error_code: int = int16
