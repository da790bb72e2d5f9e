"""ListClientMetricsResources, API key 74."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, int16, int32, string


class ListClientMetricsResourcesRequest(
    Request, key=74, versions="0", flexible="0+", listeners="broker"
):
    """An admin asks which client metrics subscriptions there are (KIP-1000)."""


class ClientMetricsResource(Group):
    name: str = string


class ListClientMetricsResourcesResponse(Response, key=74, versions="0", flexible="0+"):
    """A broker names the client metrics subscriptions that exist (KIP-1000)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    client_metrics_resources: list[ClientMetricsResource] = array(ClientMetricsResource)
