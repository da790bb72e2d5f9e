"""ControllerRegistration (KIP-919)."""

from typing import Any

from kwire.error_codes import ErrorCode
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from tests.support.controller.handlers.registrations import (
    register,
)

BROKERS, CONTROLLERS = 1, 2


def test_a_registered_controller_is_ready_to_migrate_if_it_says_so(lab: Any) -> None:
    """The driver of a migration waits for all voters to be (KIP-866)."""
    assert register(lab, 3001) == ErrorCode.NONE
    assert lab.image.cluster.controllers[3001].zk_migration_ready


def test_controllers_are_not_registered_before_3_7(make_lab: Any) -> None:
    lab = make_lab(level=14)

    assert register(lab, 3001) == ErrorCode.UNSUPPORTED_VERSION
    asked = lab.ask(DescribeClusterRequest(endpoint_type=CONTROLLERS))
    assert asked.error_code == ErrorCode.UNSUPPORTED_VERSION
