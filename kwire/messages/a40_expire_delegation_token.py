"""ExpireDelegationToken, API key 40."""

from __future__ import annotations

from kwire.codec.declaration import Request, Response
from kwire.codec.notation import binary, int16, int32, int64


class ExpireDelegationTokenRequest(
    Request, key=40, versions="0-2", flexible="2+", listeners="broker controller"
):
    """An owner or a renewer ends a delegation token, now or at a set time (KIP-48)."""

    hmac: bytes = binary
    expiry_time_period_ms: int = int64


class ExpireDelegationTokenResponse(Response, key=40, versions="0-2", flexible="2+"):
    """The controller says when the shortened token ends (KIP-48)."""

    error_code: int = int16
    expiry_timestamp_ms: int = int64
    throttle_time_ms: int = int32
