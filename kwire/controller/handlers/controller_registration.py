"""ControllerRegistration (KIP-919)."""

from __future__ import annotations

from kwire.controller.errors import ApiError
from kwire.controller.handlers.result import ControllerContext, ControllerResult, versioned
from kwire.error_codes import ErrorCode
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
    """A controller says how it is reached and what it supports.

    1. metadata.version below 3.7-IV0: UNSUPPORTED_VERSION.
    2. Record it as it is; a migration from ZooKeeper is never ready.
    """
    if not context.metadata_version.supports_controller_registration:
        text = f"metadata.version {context.metadata_version.name} has no registered controllers."
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION, text)
    record = RegisterControllerRecord(
        controller_id=request.controller_id,
        incarnation_id=request.incarnation_id,
        zk_migration_ready=False,
        end_points=[
            ControllerEndpoint(
                name=one.name, host=one.host, port=one.port, security_protocol=one.security_protocol
            )
            for one in request.listeners
        ],
        features=[
            ControllerFeature(
                name=one.name,
                min_supported_version=one.min_supported_version,
                max_supported_version=one.max_supported_version,
            )
            for one in request.features
        ],
    )
    response = ControllerRegistrationResponse()
    return ControllerResult(records=(versioned(record),), response=response)
