"""EndTxn, API key 26."""

from __future__ import annotations

from kwire.codec.declaration import Request, Response
from kwire.codec.notation import boolean, int16, int32, int64, since, string


class EndTxnRequest(Request, key=26, versions="0-5", flexible="3+", listeners="broker"):
    """A producer commits or aborts its transaction (KIP-98)."""

    transactional_id: str = string
    producer_id: int = int64
    producer_epoch: int = int16
    committed: bool = boolean


class EndTxnResponse(Response, key=26, versions="0-5", flexible="3+"):
    """The coordinator says whether the transaction's outcome is settled (KIP-98)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    producer_id: int = since(5, int64, default=-1, ignorable=True)
    producer_epoch: int = since(5, int16, default=-1, ignorable=True)
