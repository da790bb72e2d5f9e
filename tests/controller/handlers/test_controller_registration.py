"""ControllerRegistration (KIP-919)."""

from typing import Any
from uuid import UUID

import pytest

from kwire.error_codes import ErrorCode
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.a70_controller_registration import ControllerRegistrationRequest, Listener
from tests.support.controller.handlers.registrations import (
    BAD_LISTENERS,
    register,
)

BROKERS, CONTROLLERS = 1, 2


def _listener(changes: dict[str, Any]) -> Listener:
    return Listener(name="CONTROLLER", host="c1", port=9093).replace(**changes)


def test_a_registered_controller_is_ready_to_migrate_if_it_says_so(lab: Any) -> None:
    """The driver of a migration waits for all voters to be (KIP-866)."""
    assert register(lab, 3001) == ErrorCode.NONE
    assert lab.image.cluster.controllers[3001].zk_migration_ready


@pytest.mark.parametrize(
    "changes",
    [
        {"controller_id": -1},
        *({"listeners": [_listener(changes) for changes in bad]} for bad in BAD_LISTENERS),
    ],
)
def test_what_kafka_cannot_load_is_refused(lab: Any, changes: dict[str, Any]) -> None:
    request = ControllerRegistrationRequest(controller_id=3001, incarnation_id=UUID(int=1))
    assert lab.ask(request.replace(**changes)).error_code == ErrorCode.INVALID_REGISTRATION
    assert not lab.image.cluster.controllers


def test_controllers_are_not_registered_before_3_7(make_lab: Any) -> None:
    lab = make_lab(level=14)

    assert register(lab, 3001) == ErrorCode.UNSUPPORTED_VERSION
    asked = lab.ask(DescribeClusterRequest(endpoint_type=CONTROLLERS))
    assert asked.error_code == ErrorCode.UNSUPPORTED_VERSION
