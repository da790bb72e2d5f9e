"""AlterConfigs (KIP-133)."""

from __future__ import annotations

from kwire.controller.handlers.config_resources import ConfigChecker, check_access
from kwire.controller.handlers.resource_alteration import alter_each, config_records, responses
from kwire.controller.handlers.result import (
    ControllerContext,
    ControllerEvent,
    ControllerResult,
    VersionedRecords,
)
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.messages.a33_alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from kwire.messages.access_control import AclOperation
from kwire.messages.config_resource import ConfigResource, ResourceType


def handle(request: AlterConfigsRequest, context: ControllerContext) -> ControllerResult:
    """Replace the whole configuration of resources (Java:
    ConfigurationControlManager.legacyAlterConfigs).

    1. The errors of `alter_each`.
    2. A node's loggers: INVALID_REQUEST.
    3. ALTER_CONFIGS is not allowed (`check_access`).
    4. The errors of `config_records`; a key without value, or not named, is deleted.
    """
    checker = ConfigChecker(context)

    def alter(requested: AlterConfigsResource) -> VersionedRecords:
        resource = ConfigResource(requested.resource_type, requested.resource_name)
        _check_resource(resource, context)
        # 4.
        values = {config.name: config.value for config in requested.configs}
        return config_records(resource, values, context, checker, others_stay=False)

    # 1.
    records, outcomes = alter_each(request.resources, alter, context.image.features)
    return ControllerResult(
        records=() if request.validate_only else tuple(records),
        response=AlterConfigsResponse(responses=responses(outcomes, AlterConfigsResourceResponse)),
    )


def event(request: AlterConfigsRequest, context: ControllerContext) -> ControllerEvent:
    """Return NONE if each resource is refused by steps 1 to 3 of `handle`."""

    def check(requested: AlterConfigsResource) -> VersionedRecords:
        _check_resource(ConfigResource(requested.resource_type, requested.resource_name), context)
        return []

    _, outcomes = alter_each(request.resources, check, context.image.features)
    return (
        ControllerEvent.NONE if all(outcome.code for outcome in outcomes) else ControllerEvent.WRITE
    )


def _check_resource(resource: ConfigResource, context: ControllerContext) -> None:
    # 2.
    if resource.type == ResourceType.BROKER_LOGGER:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Loggers are not altered by this API.")
    # 3.
    check_access(context.access, AclOperation.ALTER_CONFIGS, resource)
