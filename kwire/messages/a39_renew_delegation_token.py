"""RenewDelegationToken, API key 39."""

from __future__ import annotations

from kwire.codec.declaration import Request, Response
from kwire.codec.notation import binary, int16, int32, int64


class RenewDelegationTokenRequest(
    Request, key=39, versions="0-2", flexible="2+", listeners="broker controller"
):
    """An owner or a renewer prolongs the life of a delegation token (KIP-48)."""

    hmac: bytes = binary
    renew_period_ms: int = int64


class RenewDelegationTokenResponse(Response, key=39, versions="0-2", flexible="2+"):
    """The controller says until when the prolonged token lives (KIP-48)."""

    error_code: int = int16
    expiry_timestamp_ms: int = int64
    throttle_time_ms: int = int32
