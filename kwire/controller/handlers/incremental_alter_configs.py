"""IncrementalAlterConfigs (KIP-339)."""

from __future__ import annotations

from collections import Counter

from kwire.controller.configs import logger_validation
from kwire.controller.errors import ApiError
from kwire.controller.handlers.config_changes import changed_value, check_change
from kwire.controller.handlers.config_resources import ConfigChecker, check_access, check_exists
from kwire.controller.handlers.limits import check_records
from kwire.controller.handlers.result import ControllerContext, ControllerResult, Records, versioned
from kwire.error_codes import ErrorCode
from kwire.messages.a44_incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kwire.messages.access_control import AclOperation
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.messages.records.config import ConfigRecord


def handle(request: IncrementalAlterConfigsRequest, context: ControllerContext) -> ControllerResult:
    """Set or delete keys of resources; append words to lists or take them away (Java:
    ConfigurationControlManager.incrementalAlterConfigs).

    1. A type of resource that does not exist: UNSUPPORTED_VERSION.
    2. A resource twice: INVALID_REQUEST, once.
    3. ALTER_CONFIGS is not allowed (`check_access`); for a node's loggers, CLUSTER_ACTION.
    4. An unknown operation: INVALID_REQUEST; words of a key that is no list: INVALID_CONFIG.
    5. The errors of `check_change`, `ConfigChecker` and `check_exists`, in this order.
    6. One record for each key that changes; for a broker, for every key.
    """
    counts = Counter(_resource(resource) for resource in request.resources)
    checker = ConfigChecker(context)
    records: Records = []
    results = []
    by_resource = {_resource(resource): resource for resource in request.resources}
    for requested in by_resource.values():
        try:
            # 2.
            if counts[_resource(requested)] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Duplicate resource.")
            records += _alter(requested, checker, context)
        except ApiError as error:
            code, message = int(error.code), error.message
        else:
            code, message = 0, None
        result = AlterConfigsResourceResponse(
            error_code=code,
            error_message=message,
            resource_type=requested.resource_type,
            resource_name=requested.resource_name,
        )
        results.append(result)
        check_records(records)
    return ControllerResult(
        records=() if request.validate_only else tuple(records),
        response=IncrementalAlterConfigsResponse(responses=results),
    )


def _resource(requested: AlterConfigsResource) -> ConfigResource:
    return ConfigResource(requested.resource_type, requested.resource_name)


def _alter(
    requested: AlterConfigsResource, checker: ConfigChecker, context: ControllerContext
) -> Records:
    # 1.
    resource = _resource(requested)
    if resource.type not in set(ResourceType) - {ResourceType.UNKNOWN}:
        text = f"Unknown resource type {resource.type}."
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION, text)
    # 3.
    is_logger = resource.type == ResourceType.BROKER_LOGGER
    operation = AclOperation.CLUSTER_ACTION if is_logger else AclOperation.ALTER_CONFIGS
    check_access(context.access, operation, resource)
    if is_logger:
        logger_validation.check(requested, context.config.node_id)
        return []
    # 4.
    current = context.image.configs.of(*resource)
    values = {
        config.name: changed_value(config, resource, current.get(config.name))
        for config in requested.configs
    }
    # 6. The same value makes a broker load its files again, a new certificate perhaps (KIP-226).
    is_broker = resource.type == ResourceType.BROKER
    changes = {
        name: value for name, value in values.items() if value != current.get(name) or is_broker
    }
    # 5.
    for name, value in changes.items():
        check_change(
            resource,
            name,
            value,
            current.get(name),
            context.metadata_version,
            forwarded=context.forwarded,
        )
    after = {**current, **changes}
    present = {name: value for name, value in after.items() if value is not None}
    checker.check(resource, present, current)
    check_exists(resource, context.image)
    # 6.
    return [
        versioned(
            ConfigRecord(
                resource_type=resource.type, resource_name=resource.name, name=name, value=value
            )
        )
        for name, value in changes.items()
    ]
