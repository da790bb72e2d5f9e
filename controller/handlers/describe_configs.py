"""DescribeConfigs (KIP-133, KIP-226, KIP-919)."""

from __future__ import annotations

from collections.abc import Iterable

from controller.handlers.config_resources import check_exists, check_resource
from controller.handlers.errors import ApiError
from controller.handlers.result import ControllerContext, ControllerResult
from controller.topic_config_keys import KEYS, PUBLIC_KEYS
from controller.topic_configs import ConfigSource, ConfigValue, synonyms, told
from kwire.apis.a32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from kwire.image.configs import ConfigResource, ResourceType

STRING = 2
GROUP_SOURCE, CLIENT_METRICS_SOURCE = 8, 7


def handle(request: DescribeConfigsRequest, context: ControllerContext) -> ControllerResult:
    """The configuration of resources as far as it is in the metadata.

    1. A resource that cannot be, or is not: as `check_resource` and `check_exists` say.
    2. Topics have every key, with the value in force and, if wanted, all it stands above.
    3. Other resources have what is set for them; broker's values are hidden, since nothing here
       knows which of them are passwords.
    """
    results = []
    for wanted in request.resources:
        try:
            configs = _configs(wanted, request, context)
        except ApiError as error:
            result = DescribeConfigsResult(error_code=error.code, error_message=error.message)
        else:
            result = DescribeConfigsResult(error_message=None, configs=configs)
        result.resource_type = wanted.resource_type
        result.resource_name = wanted.resource_name
        results.append(result)
    return ControllerResult(response=DescribeConfigsResponse(results=results))


def _configs(
    wanted: DescribeConfigsResource, request: DescribeConfigsRequest, context: ControllerContext
) -> list[DescribeConfigsResourceResult]:
    resource = ConfigResource(wanted.resource_type, wanted.resource_name)
    check_resource(resource)
    check_exists(resource, context.image)
    if resource.type == ResourceType.TOPIC:
        return _topic(wanted, request, context)
    found = context.image.configs.of(*resource)
    return [
        _dynamic(name, found[name], resource)
        for name in _wanted(sorted(found), wanted.configuration_keys)
    ]


def _topic(
    wanted: DescribeConfigsResource, request: DescribeConfigsRequest, context: ControllerContext
) -> list[DescribeConfigsResourceResult]:
    static, node_id = context.config.static.get, context.config.node_id
    results = []
    for name in _wanted(PUBLIC_KEYS, wanted.configuration_keys):
        key = KEYS[name]
        values = list(synonyms(context.image, static, key, wanted.resource_name, node_id))
        shown = told(key, values)
        results.append(
            DescribeConfigsResourceResult(
                name=name,
                value=values[0].value,
                config_source=shown[0].source if shown else ConfigSource.DEFAULT,
                synonyms=[_synonym(one) for one in shown] if request.include_synonyms else [],
                config_type=key.type,
                documentation=None,
            )
        )
    return results


def _synonym(value: ConfigValue) -> DescribeConfigsSynonym:
    return DescribeConfigsSynonym(name=value.name, value=value.stated, source=value.source)


def _dynamic(name: str, value: str, resource: ConfigResource) -> DescribeConfigsResourceResult:
    hidden = resource.type == ResourceType.BROKER and _may_be_secret(name)
    return DescribeConfigsResourceResult(
        name=name,
        value=None if hidden else value,
        config_source=_source(resource),
        is_sensitive=hidden,
        config_type=STRING,
        documentation=None,
    )


def _may_be_secret(name: str) -> bool:
    return any(word in name for word in ("password", "secret", "jaas", "key", "token"))


def _source(resource: ConfigResource) -> int:
    if resource.type == ResourceType.BROKER:
        every = not resource.name
        return ConfigSource.DYNAMIC_DEFAULT_BROKER if every else ConfigSource.DYNAMIC_BROKER
    return GROUP_SOURCE if resource.type == ResourceType.GROUP else CLIENT_METRICS_SOURCE


def _wanted(names: Iterable[str], keys: tuple[str, ...] | None) -> list[str]:
    return [name for name in names if keys is None or name in keys]
