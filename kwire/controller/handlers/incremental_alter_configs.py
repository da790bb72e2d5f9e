"""IncrementalAlterConfigs (KIP-339)."""

from __future__ import annotations

from kwire.controller.configs import logger_validation
from kwire.controller.handlers.config_changes import changed_value
from kwire.controller.handlers.config_resources import ConfigChecker, check_access
from kwire.controller.handlers.resource_alteration import alter_each, config_records, responses
from kwire.controller.handlers.result import ControllerContext, ControllerResult, Records
from kwire.messages.a44_incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kwire.messages.access_control import AclOperation
from kwire.messages.config_resource import ConfigResource, ResourceType


def handle(request: IncrementalAlterConfigsRequest, context: ControllerContext) -> ControllerResult:
    """Set or delete keys of resources; append words to lists or take them away (Java:
    ConfigurationControlManager.incrementalAlterConfigs).

    1. The errors of `alter_each`.
    2. ALTER_CONFIGS is not allowed (`check_access`); for a node's loggers, CLUSTER_ACTION.
    3. An unknown operation: INVALID_REQUEST; words of a key that is no list: INVALID_CONFIG.
    4. The errors of `config_records`.
    """
    checker = ConfigChecker(context)

    def alter(requested: AlterConfigsResource) -> Records:
        resource = ConfigResource(requested.resource_type, requested.resource_name)
        _check_access(resource, context)
        if resource.type == ResourceType.BROKER_LOGGER:
            logger_validation.check(requested, context.config.node_id)
            return []
        # 3.
        current = context.image.configs.of(*resource)
        values = {
            config.name: changed_value(config, resource, current.get(config.name))
            for config in requested.configs
        }
        # 4.
        return config_records(resource, values, context, checker, others_stay=True)

    # 1.
    records, outcomes = alter_each(request.resources, alter, context.image.features)
    return ControllerResult(
        records=() if request.validate_only else tuple(records),
        response=IncrementalAlterConfigsResponse(
            responses=responses(outcomes, AlterConfigsResourceResponse)
        ),
    )


def refuses_all(request: IncrementalAlterConfigsRequest, context: ControllerContext) -> bool:
    """Return True if steps 1 and 2 of `handle` refuse each resource but loggers, which are here."""

    def check(requested: AlterConfigsResource) -> Records:
        _check_access(ConfigResource(requested.resource_type, requested.resource_name), context)
        return []

    _, outcomes = alter_each(request.resources, check, context.image.features)
    return all(
        outcome.code or outcome.resource.type == ResourceType.BROKER_LOGGER for outcome in outcomes
    )


def _check_access(resource: ConfigResource, context: ControllerContext) -> None:
    # 2.
    is_logger = resource.type == ResourceType.BROKER_LOGGER
    operation = AclOperation.CLUSTER_ACTION if is_logger else AclOperation.ALTER_CONFIGS
    check_access(context.access, operation, resource)
