"""Sessions, with the times and answers of Kafka's BrokerHeartbeatManagerTest."""

import pytest

from kwire.controller.replicas.broker_heartbeat_manager import (
    BrokerControlState,
    BrokerHeartbeatManager,
)
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest

FENCED, UNFENCED = BrokerControlState.FENCED, BrokerControlState.UNFENCED
SHUTDOWN = BrokerControlState.CONTROLLED_SHUTDOWN
NOW = BrokerControlState.SHUTDOWN_NOW


def sessions(*times: int, fenced: bool = False) -> BrokerHeartbeatManager:
    """Brokers 0, 1, 2 were heard of at these times; a session is 10 ms."""
    manager = BrokerHeartbeatManager(session_timeout_ms=10)
    for id, time in enumerate(times):
        manager = manager.registered(id, fenced=fenced, anew=True, now=time)
    return manager


def test_a_session_is_valid_until_its_timeout_is_over() -> None:
    manager = sessions(0)

    assert [manager.has_valid_session(0, now) for now in (0, 10, 11)] == [True, True, False]
    assert not manager.has_valid_session(1, 0)


def test_a_fenced_broker_has_no_session() -> None:
    assert not sessions(0, fenced=True).has_valid_session(0, 0)
    assert not sessions(0).fenced(0).has_valid_session(0, 0)


def test_the_broker_that_was_silent_for_longest_is_stale_first() -> None:
    manager = sessions(0, 5, 15)

    assert [manager.stale_broker(now) for now in (10, 11)] == [None, 0]
    assert manager.fenced(0).stale_broker(15) is None
    assert manager.fenced(0).stale_broker(16) == 1


def test_the_deadline_is_when_the_first_session_is_over() -> None:
    assert BrokerHeartbeatManager().deadline is None
    manager = sessions(0, 2)
    assert manager.deadline == 11
    assert manager.removed(0).deadline == 13
    assert manager.touched(0, fenced=False, metadata_offset=3, now=4).deadline == 13


def test_brokers_in_controlled_shutdown_get_no_replicas_and_hold_nobody_back() -> None:
    manager = sessions(0, 0, 0)
    for id, offset in enumerate((98, 100, 99)):
        manager = manager.touched(id, fenced=False, metadata_offset=offset, now=0)

    assert manager.lowest_active_offset == 98
    assert list(manager.usable_brokers()) == [(0, False), (1, False), (2, False)]
    manager = manager.shutting_down(0, 110)
    assert manager.lowest_active_offset == 99
    assert list(manager.usable_brokers()) == [(1, False), (2, False)]


def test_the_first_shutdown_offset_counts_and_fencing_ends_it() -> None:
    manager = sessions(0).shutting_down(0, 110).shutting_down(0, 120)

    assert manager.brokers[0].shutdown_offset == 110
    assert not manager.touched(0, fenced=True, metadata_offset=5, now=0).brokers[0].shutting_down


@pytest.mark.parametrize(
    ("state", "wants_fence", "wants_stop", "caught_up", "leads", "next"),
    [
        (FENCED, False, False, True, False, UNFENCED),
        (FENCED, False, False, False, False, FENCED),
        (FENCED, True, False, True, False, FENCED),
        (FENCED, False, True, True, False, NOW),
        (FENCED, True, True, False, True, NOW),
        (UNFENCED, False, False, True, True, UNFENCED),
        (UNFENCED, True, False, True, True, FENCED),
        (UNFENCED, True, True, True, True, NOW),
        (UNFENCED, False, True, True, True, SHUTDOWN),
        (UNFENCED, False, True, True, False, NOW),
        (SHUTDOWN, False, False, True, True, SHUTDOWN),
        (SHUTDOWN, True, True, True, True, SHUTDOWN),
        (SHUTDOWN, False, True, True, False, NOW),
    ],
)
def test_what_a_broker_becomes(
    state: BrokerControlState,
    wants_fence: bool,
    wants_stop: bool,
    caught_up: bool,
    leads: bool,
    next: BrokerControlState,
) -> None:
    manager = sessions(0, fenced=state is FENCED)
    if state is SHUTDOWN:
        manager = manager.shutting_down(0, 50)
    request = BrokerHeartbeatRequest(
        broker_id=0,
        want_fence=wants_fence,
        want_shut_down=wants_stop,
        current_metadata_offset=100 if caught_up else 99,
    )

    assert manager.next_state(request, registration_offset=100, leads=lambda: leads) is next


def test_who_stops_waits_until_the_active_brokers_know() -> None:
    manager = sessions(0, 0).shutting_down(0, 50)
    request = BrokerHeartbeatRequest(broker_id=0, want_shut_down=True)

    def after(offset: int) -> BrokerControlState:
        others = manager.touched(1, fenced=False, metadata_offset=offset, now=0)
        return others.next_state(request, registration_offset=0, leads=lambda: False)

    assert [after(49), after(50)] == [SHUTDOWN, NOW]
