"""PushTelemetry, API key 72."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Request, Response
from kwire.codec.notation import binary, boolean, int8, int16, int32, uuid


class PushTelemetryRequest(Request, key=72, versions="0", flexible="0+", listeners="broker"):
    """A client delivers the metrics that the cluster subscribed to (KIP-714)."""

    client_instance_id: UUID = uuid
    subscription_id: int = int32
    terminating: bool = boolean
    compression_type: int = int8
    metrics: bytes = binary


class PushTelemetryResponse(Response, key=72, versions="0", flexible="0+"):
    """A broker says whether it took the metrics (KIP-714)."""

    throttle_time_ms: int = int32
    error_code: int = int16
