"""ListConfigResources, API key 74."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, int8, int16, int32, since, string


class ListConfigResourcesRequest(
    Request, key=74, versions="0-1", flexible="0+", listeners="broker"
):
    """An admin asks which resources of given types there are to configure (KIP-1142)."""

    resource_types: tuple[int, ...] = since(1, array(int8))


class ConfigResource(Group):
    resource_name: str = string
    resource_type: int = since(1, int8, default=16, ignorable=True)


class ListConfigResourcesResponse(Response, key=74, versions="0-1", flexible="0+"):
    """A broker gives name and type of the resources to configure (KIP-1142)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    config_resources: list[ConfigResource] = array(ConfigResource)
