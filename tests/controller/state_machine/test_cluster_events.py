"""The events of brokers, controllers and features: each provoked, by its fields."""

from collections.abc import Callable
from uuid import UUID

import pytest

from kwire.controller.operator_events import OperatorEvent
from kwire.controller.state_machine import cluster_events as declared
from kwire.controller.state_machine.cluster_events import (
    BrokerFenced,
    BrokerRegistered,
    BrokerSessionExpired,
    BrokerShutdownBegun,
    BrokerUnfenced,
    BrokerUnregistered,
    ControllerActivated,
    ControllerRegistered,
    FeatureLevelChanged,
)
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest
from kwire.messages.a70_controller_registration import ControllerRegistrationRequest
from kwire.messages.metadata_versions import DEFAULT, METADATA_VERSION
from tests.support.controller.handlers.lab import EPOCH_START, Lab
from tests.support.controller.operator_events import kinds_in

Act = Callable[[Lab], object]
EPOCH = EPOCH_START + 3
"""Of broker 1: the offset of its registration, behind the transaction of the bootstrap records."""


def started() -> Lab:
    lab = Lab()
    lab.start(1, 2)
    lab.create("foo", (1, 2))
    lab.controller.take_events()
    return lab


def broker_2_goes_on(lab: Lab) -> None:
    lab.now += 5000
    lab.heartbeat(2)
    lab.tick(4001)


def broker_1_restarts(lab: Lab) -> None:
    lab.tick(9001)
    lab.register(1, incarnation_id=UUID(int=7))


PROVOKED: list[tuple[Act, OperatorEvent]] = [
    (lambda lab: lab.register(3), BrokerRegistered(broker_id=3, broker_epoch=12, fenced=True)),
    (broker_1_restarts, BrokerRegistered(broker_id=1, broker_epoch=16, fenced=True)),
    (
        lambda lab: lab.ask(UnregisterBrokerRequest(broker_id=2)),
        BrokerUnregistered(broker_id=2),
    ),
    (
        broker_2_goes_on,
        BrokerSessionExpired(broker_id=1, silent_ms=9001, session_timeout_ms=9000),
    ),
    (broker_2_goes_on, BrokerFenced(broker_id=1, broker_epoch=EPOCH)),
    (
        lambda lab: (lab.tick(9001), lab.heartbeat(1)),
        BrokerUnfenced(broker_id=1, broker_epoch=EPOCH),
    ),
    (
        lambda lab: lab.heartbeat(1, want_shut_down=True),
        BrokerShutdownBegun(broker_id=1, broker_epoch=EPOCH),
    ),
    (
        lambda lab: lab.ask(ControllerRegistrationRequest(controller_id=3001)),
        ControllerRegistered(controller_id=3001),
    ),
]


@pytest.mark.parametrize(("act", "event"), PROVOKED, ids=lambda value: type(value).__name__)
def test_a_controller_tells_its_operator_once_what_happened(act: Act, event: OperatorEvent) -> None:
    lab = started()
    act(lab)
    assert lab.controller.take_events().count(event) == 1  # type: ignore[arg-type]


def test_a_new_leader_tells_that_it_writes_and_the_features_it_begins_with() -> None:
    assert Lab().controller.take_events() == [
        ControllerActivated(epoch=1, end_offset=EPOCH_START),
        FeatureLevelChanged(feature=METADATA_VERSION, before=0, after=DEFAULT),
    ]


def test_every_kind_of_event_is_provoked() -> None:
    kinds = {type(event) for _, event in PROVOKED} | {ControllerActivated, FeatureLevelChanged}
    assert kinds == set(kinds_in(declared))


def test_heartbeats_and_topics_are_no_events() -> None:
    lab = started()
    for _ in range(3):
        lab.heartbeat(1)
        lab.heartbeat(2)
        lab.tick(2000)
    lab.create("bar", (1, 2))
    assert lab.controller.take_events() == []
