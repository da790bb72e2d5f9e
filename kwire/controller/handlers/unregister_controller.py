"""UnregisterController (KIP-1312)."""

from __future__ import annotations

from kwire.controller.handlers.result import ControllerContext, ControllerResult, versioned
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.messages.a94_unregister_controller import (
    UnregisterControllerRequest,
    UnregisterControllerResponse,
)
from kwire.messages.records.unregister_controller import UnregisterControllerRecord


def handle(request: UnregisterControllerRequest, context: ControllerContext) -> ControllerResult:
    """Forget a controller that will not come back.

    1. The active controller itself: INVALID_REQUEST.
    2. metadata.version below 4.4-IV2: UNSUPPORTED_VERSION.
    3. No such controller: CONTROLLER_ID_NOT_REGISTERED.
    4. Remove its registration, and nothing else: the voter set stays as it is, and a controller
       that runs registers again.
    """
    # 1.
    if request.controller_id == context.config.node_id:
        text = "The active controller cannot unregister itself: stop it first."
        raise ApiError(ErrorCode.INVALID_REQUEST, text)
    # 2.
    if not context.metadata_version.supports_controller_unregistration:
        text = f"metadata.version {context.metadata_version.name} cannot unregister controllers."
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION, text)
    # 3.
    id = request.controller_id
    if id not in context.image.cluster.controllers:
        text = f"Controller {id} is not registered."
        raise ApiError(ErrorCode.CONTROLLER_ID_NOT_REGISTERED, text)
    # 4.
    record = versioned(UnregisterControllerRecord(controller_id=id))
    return ControllerResult(records=(record,), response=UnregisterControllerResponse())
