"""IncrementalAlterConfigs, API key 44."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, boolean, int8, int16, int32, nullable, string


class AlterableConfig(Group):
    name: str = string
    config_operation: int = int8
    value: str | None = nullable(string)


class AlterConfigsResource(Group):
    resource_type: int = int8
    resource_name: str = string
    configs: list[AlterableConfig] = array(AlterableConfig)


class IncrementalAlterConfigsRequest(
    Request, key=44, versions="0-1", flexible="1+", listeners="broker controller"
):
    """An admin changes single configuration keys and leaves the others alone (KIP-339)."""

    resources: list[AlterConfigsResource] = array(AlterConfigsResource)
    validate_only: bool = boolean


class AlterConfigsResourceResponse(Group):
    error_code: int = int16
    error_message: str | None = nullable(string)
    resource_type: int = int8
    resource_name: str = string


class IncrementalAlterConfigsResponse(Response, key=44, versions="0-1", flexible="1+"):
    """A node says for each resource whether its changes were made (KIP-339)."""

    throttle_time_ms: int = int32
    responses: list[AlterConfigsResourceResponse] = array(AlterConfigsResourceResponse)
