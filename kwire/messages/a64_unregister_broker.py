"""UnregisterBroker, API key 64."""

from __future__ import annotations

from kwire.codec.declaration import Request, Response
from kwire.codec.notation import int16, int32, nullable, string


class UnregisterBrokerRequest(
    Request, key=64, versions="0", flexible="0+", listeners="broker controller"
):
    """An admin has the controller forget a broker that will not come back (KIP-631)."""

    broker_id: int = int32


class UnregisterBrokerResponse(Response, key=64, versions="0", flexible="0+"):
    """The controller says whether it has forgotten the broker (KIP-631)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    error_message: str | None = nullable(string)
