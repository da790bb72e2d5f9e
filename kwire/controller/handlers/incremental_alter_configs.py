"""IncrementalAlterConfigs (KIP-339)."""

from __future__ import annotations

from kwire.configs.logger_validation import changed_levels
from kwire.controller.handlers.config_changes import changed_value
from kwire.controller.handlers.config_resources import ConfigChecker, check_access
from kwire.controller.handlers.resource_alteration import (
    ResourceOutcome,
    alter_each,
    config_records,
    responses,
)
from kwire.controller.handlers.result import (
    ControllerContext,
    ControllerEvent,
    ControllerResult,
    VersionedRecords,
)
from kwire.errors import ApiError
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

    Of several changes of one key the last counts.

    1. The errors of `alter_each`.
    2. ALTER_CONFIGS is not allowed: the error of `check_access`.
    3. An unknown operation: INVALID_REQUEST; words of a key that is no list: INVALID_CONFIG.
    4. The errors of `config_records`.
    5. Log levels are in no record: this node sets its own, by CLUSTER_ACTION (Java:
       RuntimeLoggerManager), at once and whatever becomes of other resources. The errors of
       `changed_levels`.
    """
    checker = ConfigChecker(context)

    def alter(requested: AlterConfigsResource) -> VersionedRecords:
        # 2.
        resource = _permitted(requested, context)
        # 3.
        current = context.image.configs.of(*resource)
        last = {config.name: config for config in requested.configs}
        values = {
            name: changed_value(config, resource, current.get(name))
            for name, config in last.items()
        }
        # 4.
        return config_records(resource, values, context, checker, others_stay=True)

    # 1.
    of_loggers, others = _parted(request)
    records, outcomes = alter_each(others, alter, context.image.features)
    # 5.
    log_levels: dict[str, str | None] = {}
    outcomes += [_alter_loggers(requested, context, log_levels) for requested in of_loggers]
    return ControllerResult(
        records=() if request.validate_only else tuple(records),
        log_levels={} if request.validate_only else log_levels,
        response=IncrementalAlterConfigsResponse(
            responses=responses(outcomes, AlterConfigsResourceResponse)
        ),
    )


def event(request: IncrementalAlterConfigsRequest, context: ControllerContext) -> ControllerEvent:
    """Return NONE if steps 1 and 2 of `handle` refuse each resource but loggers."""

    def check(requested: AlterConfigsResource) -> VersionedRecords:
        _permitted(requested, context)
        return []

    _, outcomes = alter_each(_parted(request)[1], check, context.image.features)
    return (
        ControllerEvent.NONE if all(outcome.code for outcome in outcomes) else ControllerEvent.WRITE
    )


def _parted(
    request: IncrementalAlterConfigsRequest,
) -> tuple[list[AlterConfigsResource], list[AlterConfigsResource]]:
    """Return the resources of a request that are loggers, and the others."""
    of_loggers: list[AlterConfigsResource] = []
    others: list[AlterConfigsResource] = []
    for requested in request.resources:
        is_logger = requested.resource_type == ResourceType.BROKER_LOGGER
        (of_loggers if is_logger else others).append(requested)
    return of_loggers, others


def _permitted(requested: AlterConfigsResource, context: ControllerContext) -> ConfigResource:
    # 2.
    resource = ConfigResource(requested.resource_type, requested.resource_name)
    check_access(context.access, AclOperation.ALTER_CONFIGS, resource)
    return resource


def _alter_loggers(
    requested: AlterConfigsResource, context: ControllerContext, log_levels: dict[str, str | None]
) -> ResourceOutcome:
    """Add the levels that one resource asks for, if all of it is right."""
    resource = ConfigResource(requested.resource_type, requested.resource_name)
    try:
        check_access(context.access, AclOperation.CLUSTER_ACTION, resource)
        log_levels |= changed_levels(requested, context.config.node_id, context.log_levels())
    except ApiError as error:
        return ResourceOutcome(resource, int(error.code), error.message)
    return ResourceOutcome(resource, 0, None)
