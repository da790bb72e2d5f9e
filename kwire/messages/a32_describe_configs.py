"""DescribeConfigs, API key 32."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, boolean, field, int8, int16, int32, nullable, since, string


class DescribeConfigsResource(Group):
    resource_type: int = int8
    resource_name: str = string
    configuration_keys: tuple[str, ...] | None = nullable(array(string))


class DescribeConfigsRequest(
    Request, key=32, versions="0-4", flexible="4+", listeners="broker controller"
):
    """An admin reads the configuration of topics, brokers and other resources (KIP-133)."""

    resources: list[DescribeConfigsResource] = array(DescribeConfigsResource)
    include_synonyms: bool = since(1, boolean)
    include_documentation: bool = since(3, boolean)


class DescribeConfigsSynonym(Group):
    name: str = since(1, string)
    value: str | None = since(1, nullable(string))
    source: int = since(1, int8)


class DescribeConfigsResourceResult(Group):
    name: str = string
    value: str | None = nullable(string)
    read_only: bool = boolean
    is_default: bool = field(boolean, "0")
    config_source: int = since(1, int8, default=-1, ignorable=True)
    is_sensitive: bool = boolean
    synonyms: list[DescribeConfigsSynonym] = since(1, array(DescribeConfigsSynonym), ignorable=True)
    config_type: int = since(3, int8, ignorable=True)
    documentation: str | None = since(3, nullable(string), ignorable=True)


class DescribeConfigsResult(Group):
    error_code: int = int16
    error_message: str | None = nullable(string)
    resource_type: int = int8
    resource_name: str = string
    configs: list[DescribeConfigsResourceResult] = array(DescribeConfigsResourceResult)


class DescribeConfigsResponse(Response, key=32, versions="0-4", flexible="4+"):
    """A node gives configuration values and where each comes from (KIP-133)."""

    throttle_time_ms: int = int32
    results: list[DescribeConfigsResult] = array(DescribeConfigsResult)
