"""UnregisterController (KIP-1312)."""

from typing import Any
from uuid import UUID

from kwire.error_codes import ErrorCode
from kwire.messages.a70_controller_registration import ControllerRegistrationRequest
from kwire.messages.a94_unregister_controller import UnregisterControllerRequest
from kwire.messages.metadata_versions import metadata_version
from kwire.messages.records.unregister_controller import UnregisterControllerRecord


def registered_controller(lab: Any, id: int) -> None:
    request = ControllerRegistrationRequest(controller_id=id, incarnation_id=UUID(int=id))
    assert lab.ask(request).error_code == ErrorCode.NONE


def test_a_controller_that_is_unregistered_is_forgotten_and_may_come_back(make_lab: Any) -> None:
    lab = make_lab(level=metadata_version("4.4").level)
    registered_controller(lab, 3001)

    assert lab.ask(UnregisterControllerRequest(controller_id=3001)).error_code == ErrorCode.NONE

    assert lab.log[-1].record == UnregisterControllerRecord(controller_id=3001)
    assert 3001 not in lab.image.cluster.controllers
    again = lab.ask(UnregisterControllerRequest(controller_id=3001))
    assert again.error_code == ErrorCode.CONTROLLER_ID_NOT_REGISTERED
    assert again.error_message == "Controller 3001 is not registered."
    registered_controller(lab, 3001)
    assert 3001 in lab.image.cluster.controllers


def test_the_active_controller_does_not_unregister_itself(lab: Any) -> None:
    refused = lab.ask(UnregisterControllerRequest(controller_id=3000))
    assert refused.error_code == ErrorCode.INVALID_REQUEST


def test_before_4_4_iv2_controllers_are_not_unregistered(make_lab: Any) -> None:
    lab = make_lab(level=metadata_version("4.4-IV1").level)
    registered_controller(lab, 3001)

    refused = lab.ask(UnregisterControllerRequest(controller_id=3001))

    assert refused.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert 3001 in lab.image.cluster.controllers
