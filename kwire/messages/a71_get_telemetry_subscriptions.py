"""GetTelemetrySubscriptions, API key 71."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Request, Response
from kwire.codec.notation import array, boolean, int8, int16, int32, string, uuid


class GetTelemetrySubscriptionsRequest(
    Request, key=71, versions="0", flexible="0+", listeners="broker"
):
    """A client asks which of its own metrics the cluster wants to have (KIP-714)."""

    client_instance_id: UUID = uuid


class GetTelemetrySubscriptionsResponse(Response, key=71, versions="0", flexible="0+"):
    """A broker tells a client what to measure and how often to deliver (KIP-714)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    client_instance_id: UUID = uuid
    subscription_id: int = int32
    accepted_compression_types: tuple[int, ...] = array(int8)
    push_interval_ms: int = int32
    telemetry_max_bytes: int = int32
    delta_temporality: bool = boolean
    requested_metrics: tuple[str, ...] = array(string)
