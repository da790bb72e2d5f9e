"""DescribeConfigs (KIP-133, KIP-226, KIP-919)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kwire.configs import client_metrics_keys, group_keys, group_validation, node_keys
from kwire.configs.keys import ConfigKey, Dynamic
from kwire.configs.node_configs import ConfigValue, node_key, node_synonyms
from kwire.configs.topic_configs import described_synonyms, synonyms
from kwire.configs.topic_keys import KEYS
from kwire.configs.topic_validation import PUBLIC_KEYS
from kwire.configs.values import as_text, java_int
from kwire.controller.handlers.config_resources import check_access, check_exists, check_name
from kwire.controller.handlers.result import ControllerContext, ControllerResult
from kwire.controller.handlers.topic_names import name_problem
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.messages.a32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from kwire.messages.access_control import AclOperation
from kwire.messages.config_resource import ConfigResource, ConfigSource, ConfigType, ResourceType

_TYPES = set(ResourceType) - {ResourceType.UNKNOWN}

Results = list[DescribeConfigsResourceResult]


def handle(request: DescribeConfigsRequest, context: ControllerContext) -> ControllerResult:
    """Describe the configuration of resources (Java: ConfigHelper.describeConfigs).

    1. A type of resource without configuration: INVALID_REQUEST for all; DESCRIBE_CONFIGS is not
       allowed: the error of `check_access`.
    2. A name that cannot be, or a resource that does not exist: the errors of `check_name` and
       `check_exists`.
    3. Topics, groups and client metrics have every key, with the value in force and, if requested,
       all values that it overrides.
    4. The broker without a name has the settings for all; this node, by its id, every key of its
       own. Another node's id: INVALID_REQUEST, since only that node knows its server.properties.
    5. This node, by its id, has the level of each of its loggers.
    """
    # 1.
    unknown = {resource.resource_type for resource in request.resources} - _TYPES
    if unknown:
        text = f"Resources of type {min(unknown)} have no configuration here."
        raise ApiError(ErrorCode.INVALID_REQUEST, text)
    results = []
    for requested in request.resources:
        try:
            check_access(context.access, AclOperation.DESCRIBE_CONFIGS, _resource(requested))
            configs = _configs(requested, context)
        except ApiError as error:
            result = DescribeConfigsResult(error_code=error.code, error_message=error.message)
        else:
            keys = requested.configuration_keys
            described = [config for config in configs if not keys or config.name in keys]
            if not request.include_synonyms:
                for config in described:
                    config.synonyms = []
            result = DescribeConfigsResult(configs=described)
        result.resource_type = requested.resource_type
        result.resource_name = requested.resource_name
        results.append(result)
    return ControllerResult(response=DescribeConfigsResponse(results=results))


def _resource(requested: DescribeConfigsResource) -> ConfigResource:
    return ConfigResource(requested.resource_type, requested.resource_name)


def _configs(requested: DescribeConfigsResource, context: ControllerContext) -> Results:
    resource = _resource(requested)
    # 4., 5.
    if resource.type in (ResourceType.BROKER, ResourceType.BROKER_LOGGER):
        return _node(resource, context)
    # 2., 3.
    own = context.image.configs.of(*resource)
    if resource.type == ResourceType.TOPIC:
        problem = name_problem(resource.name)
        if problem is not None:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
        check_exists(resource, context.image)
        names = sorted({*PUBLIC_KEYS, *own} & KEYS.keys())  # an internal key if it is set
        return [_topic(KEYS[name], resource.name, context) for name in names]
    check_name(resource)
    if resource.type == ResourceType.GROUP:
        return _group(own, context)
    return [
        _entry(key, _value(key, own), _own(key, own, ConfigSource.CLIENT_METRICS))
        for key in client_metrics_keys.KEYS.values()
    ]


def _topic(key: ConfigKey, topic: str, context: ControllerContext) -> DescribeConfigsResourceResult:
    static, node_id = context.config.static.get, context.config.node_id
    values = list(synonyms(context.image, static, key, topic, node_id))
    above = described_synonyms(key, values)
    if above and above[0].source == ConfigSource.TOPIC:
        parsed = _text(key, above[0].value)
        above[0] = replace(above[0], value=parsed, source_text=parsed)
    return _entry(key, _text(key, values[0].value), above)


def _group(own: Mapping[str, str], context: ControllerContext) -> Results:
    static, node_id = context.config.static, context.config.node_id
    inherited = group_validation.inherited(static)
    results = []
    for key in group_keys.KEYS.values():
        above = _own(key, own, ConfigSource.GROUP)
        for synonym in key.synonyms:
            above += node_synonyms(context.image, static.get, synonym.name, node_id)
        if not key.synonyms:
            default = ConfigValue(
                name=key.name,
                value=key.default,
                source_text=key.default,
                source=ConfigSource.DEFAULT,
            )
            above.append(default)
        results.append(_entry(key, _value(key, {**inherited, **own}), above))
    return results


def _node(resource: ConfigResource, context: ControllerContext) -> Results:
    is_logger = resource.type == ResourceType.BROKER_LOGGER
    if not resource.name and not is_logger:
        return _every_node(context)
    own_id, id = context.config.node_id, java_int(resource.name)
    if id is None:
        text = f"Broker id must be an integer, but it is: {resource.name}"
        raise ApiError(ErrorCode.INVALID_REQUEST, text)
    if id != own_id:
        allowed = f"{own_id}" if is_logger else f"{own_id} or empty string,"
        text = f"Unexpected broker id, expected {allowed} but received {resource.name}"
        raise ApiError(ErrorCode.INVALID_REQUEST, text)
    # 5.
    return _loggers(context) if is_logger else _this_node(context)


def _loggers(context: ControllerContext) -> Results:
    return [
        DescribeConfigsResourceResult(
            name=name, value=level, config_source=ConfigSource.DYNAMIC_BROKER_LOGGER
        )
        for name, level in context.log_levels().items()
    ]


def _every_node(context: ControllerContext) -> Results:
    settings = context.image.configs.of(ResourceType.BROKER, "")
    known = {name: node_key(name) for name in sorted(settings)}
    return [
        _node_entry(name, settings[name], context, only=ConfigSource.DYNAMIC_DEFAULT_BROKER)
        for name, key in known.items()
        if key is None or key.dynamic is Dynamic.CLUSTER_WIDE
    ]


def _this_node(context: ControllerContext) -> Results:
    static = context.config.static
    names = [name for name, key in node_keys.KEYS.items() if not key.internal]
    names += sorted(static.keys() - node_keys.KEYS.keys())
    results = []
    for name in names:
        values = node_synonyms(context.image, static.get, name, context.config.node_id)
        own = [value.value for value in values if value.name == name]
        results.append(_node_entry(name, own[0] if own else None, context))
    return results


def _node_entry(
    name: str, value: str | None, context: ControllerContext, only: ConfigSource | None = None
) -> DescribeConfigsResourceResult:
    static, node_id = context.config.static.get, context.config.node_id
    values = node_synonyms(context.image, static, name, node_id)
    above = [value for value in values if only in (None, value.source)]
    key = node_key(name) or ConfigKey(name=name, type=ConfigType.UNKNOWN)
    entry = _entry(key, _text(key, value), above)
    entry.name = name
    entry.read_only = key.dynamic is None
    return entry


def _entry(
    key: ConfigKey, value: str | None, above: Iterable[ConfigValue]
) -> DescribeConfigsResourceResult:
    """Return one key of an answer. above: every value it has somewhere, the strongest first."""
    is_hidden = key.is_sensitive
    synonyms_above = [
        DescribeConfigsSynonym(
            name=value_above.name,
            value=None if is_hidden else value_above.source_text,
            source=value_above.source,
        )
        for value_above in above
    ]
    return DescribeConfigsResourceResult(
        name=key.name,
        value=None if is_hidden else value,
        config_source=synonyms_above[0].source if synonyms_above else ConfigSource.DEFAULT,
        is_sensitive=is_hidden,
        synonyms=synonyms_above,
        config_type=key.type,
        documentation=None,
    )


def _own(key: ConfigKey, own: Mapping[str, str], source: ConfigSource) -> list[ConfigValue]:
    if key.name not in own:
        return []
    value = _value(key, own)
    return [ConfigValue(name=key.name, value=value, source_text=value, source=source)]


def _value(key: ConfigKey, texts: Mapping[str, str]) -> str | None:
    return _text(key, texts.get(key.name, key.default))


def _text(key: ConfigKey, text: str | None) -> str | None:
    """Return a value as Kafka prints what it parsed; as it stands if it is not valid."""
    if text is None:
        return None
    try:
        return as_text(key.value(text))
    except ApiError:
        return text
