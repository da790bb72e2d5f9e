"""UnregisterController, API key 94."""

from __future__ import annotations

from kwire.codec.declaration import Request, Response
from kwire.codec.notation import int16, int32, nullable, string


class UnregisterControllerRequest(
    Request, key=94, versions="0", flexible="0+", listeners="broker controller"
):
    """An admin has the active controller forget a controller that is gone (KIP-1312)."""

    controller_id: int = int32


class UnregisterControllerResponse(Response, key=94, versions="0", flexible="0+"):
    """The active controller says whether the registration is gone (KIP-1312)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    error_message: str | None = nullable(string)
