"""IncrementalAlterConfigs (KIP-339)."""

from __future__ import annotations

from collections import Counter

from controller.handlers.config_resources import check_exists, check_resource, check_values
from controller.handlers.errors import ApiError
from controller.handlers.result import ControllerContext, ControllerResult, Records, versioned
from controller.topic_config_keys import KEYS, ConfigType
from kwire.apis.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kwire.error_codes import ErrorCode
from kwire.image.configs import ConfigResource, ResourceType
from kwire.records.config import ConfigRecord

SET, DELETE, APPEND, SUBTRACT = range(4)


def handle(request: IncrementalAlterConfigsRequest, context: ControllerContext) -> ControllerResult:
    """Keys of resources are set, deleted, or have words appended and taken away.

    1. A type of resource that does not exist: UNSUPPORTED_VERSION.
    2. A resource twice: INVALID_REQUEST, once.
    3. An unknown operation: INVALID_REQUEST; words of a key that is no list: INVALID_CONFIG.
    4. What `check_resource`, `check_values` and `check_exists` find, in this order.
    5. One record a key that changes; of a broker, of every key, since that has it reload files.
    """
    counts = Counter(_resource(one) for one in request.resources)
    records: Records = []
    results = []
    for wanted in {_resource(one): one for one in request.resources}.values():
        try:
            if counts[_resource(wanted)] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "The resource is given more than once.")
            records += _alter(wanted, context)
        except ApiError as error:
            code, message = int(error.code), error.message
        else:
            code, message = 0, None
        result = AlterConfigsResourceResponse(
            error_code=code,
            error_message=message,
            resource_type=wanted.resource_type,
            resource_name=wanted.resource_name,
        )
        results.append(result)
    return ControllerResult(
        records=() if request.validate_only else tuple(records),
        response=IncrementalAlterConfigsResponse(responses=results),
    )


def _resource(wanted: AlterConfigsResource) -> ConfigResource:
    return ConfigResource(wanted.resource_type, wanted.resource_name)


def _alter(wanted: AlterConfigsResource, context: ControllerContext) -> Records:
    resource = _resource(wanted)
    if resource.type not in set(ResourceType) - {ResourceType.UNKNOWN}:
        text = f"Unknown resource type {resource.type}."
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION, text)
    current = context.image.configs.of(*resource)
    changes = {
        config.name: _value(config, resource, current.get(config.name)) for config in wanted.configs
    }
    after = {**current, **changes}
    check_resource(resource)
    check_values(resource, {name: value for name, value in after.items() if value is not None})
    check_exists(resource, context.image)
    return [
        versioned(
            ConfigRecord(
                resource_type=resource.type, resource_name=resource.name, name=name, value=value
            )
        )
        for name, value in changes.items()
        if value != current.get(name) or resource.type == ResourceType.BROKER
    ]


def _value(config: AlterableConfig, resource: ConfigResource, current: str | None) -> str | None:
    operation = config.config_operation
    if operation == DELETE:
        return None
    if operation not in (SET, APPEND, SUBTRACT):
        raise ApiError(ErrorCode.INVALID_REQUEST, f"{operation} is not an operation on a key.")
    if config.value is None:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"{config.name} needs a value that is not null.")
    if operation == SET:
        return config.value
    key = KEYS.get(config.name) if resource.type == ResourceType.TOPIC else None
    if key is None or key.type is not ConfigType.LIST:
        text = f"{config.name} is no list: its value can only be set."
        raise ApiError(ErrorCode.INVALID_CONFIG, text)
    return _words(key.default if current is None else current, config.value, operation)


def _words(current: str | None, given: str, operation: int) -> str:
    words = [word for word in (current or "").split(",") if word]
    for word in given.split(","):
        if operation == APPEND and word not in words:
            words.append(word)
        elif operation == SUBTRACT and word in words:
            words.remove(word)
    return ",".join(words)
