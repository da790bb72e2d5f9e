"""AlterConfigs, API key 33."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, boolean, int8, int16, int32, nullable, string


class AlterableConfig(Group):
    name: str = string
    value: str | None = nullable(string)


class AlterConfigsResource(Group):
    resource_type: int = int8
    resource_name: str = string
    configs: list[AlterableConfig] = array(AlterableConfig)


class AlterConfigsRequest(
    Request, key=33, versions="0-2", flexible="2+", listeners="broker controller"
):
    """An admin replaces the whole dynamic configuration of resources (KIP-133)."""

    resources: list[AlterConfigsResource] = array(AlterConfigsResource)
    validate_only: bool = boolean


class AlterConfigsResourceResponse(Group):
    error_code: int = int16
    error_message: str | None = nullable(string)
    resource_type: int = int8
    resource_name: str = string


class AlterConfigsResponse(Response, key=33, versions="0-2", flexible="2+"):
    """A node says for each resource whether its configuration was replaced (KIP-133)."""

    throttle_time_ms: int = int32
    responses: list[AlterConfigsResourceResponse] = array(AlterConfigsResourceResponse)
