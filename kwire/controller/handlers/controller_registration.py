"""ControllerRegistration (KIP-919)."""

from __future__ import annotations

from kwire.controller.handlers.broker_registration import check_node
from kwire.controller.handlers.result import ControllerContext, ControllerResult, versioned
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.endpoint import endpoint_groups, feature_groups, supported
from kwire.messages.a70_controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)
from kwire.messages.records.register_controller import (
    ControllerEndpoint,
    ControllerFeature,
    RegisterControllerRecord,
)


def handle(request: ControllerRegistrationRequest, context: ControllerContext) -> ControllerResult:
    """Register the endpoints and features of a controller.

    A controller that is not active answers NOT_CONTROLLER before this (`QuorumController.begin`).

    1. metadata.version below 3.7-IV0: UNSUPPORTED_VERSION.
    2. What `check_node` refuses: INVALID_REGISTRATION.
    3. Record them as they are, and whether it is ready to migrate (KIP-866).
    """
    # 1.
    if not context.metadata_version.supports_controller_registration:
        text = f"metadata.version {context.metadata_version.name} has no registered controllers."
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION, text)
    # 2.
    check_node(request.controller_id, request.listeners)
    # 3.
    record = RegisterControllerRecord(
        controller_id=request.controller_id,
        incarnation_id=request.incarnation_id,
        zk_migration_ready=request.zk_migration_ready,
        end_points=endpoint_groups(ControllerEndpoint, request.listeners),
        features=feature_groups(
            ControllerFeature, ((feature.name, supported(feature)) for feature in request.features)
        ),
    )
    response = ControllerRegistrationResponse()
    return ControllerResult(records=(versioned(record),), response=response)
