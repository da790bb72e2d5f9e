"""Fetches to bootstrap servers while nobody knows a leader: few, and further and further apart."""

from itertools import pairwise

from kwire.controller.raft.endpoints import PeerNode
from kwire.controller.raft.request_manager import RequestManager
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import FetchRequest
from tests.support.controller.raft.single_replica import (
    SingleReplica,
    fetch_response,
    observer,
    unattached,
)

SERVERS = tuple(("localhost", 9990 + index) for index in range(3))
NO_LEADER = -1


def asked_at(solo: SingleReplica, milliseconds: int, epoch: int) -> list[int]:
    """Answer every Fetch at once with "no leader"; return when bootstrap servers were asked."""
    began, answered, times = solo.now, 0, []
    for _ in range(milliseconds):
        for send, _request in solo.sent(FetchRequest)[answered:]:
            answered += 1
            if send.destination.id < 0:
                times.append(solo.now - began)
            error = ErrorCode.NOT_LEADER_OR_FOLLOWER
            solo.respond(send, fetch_response(epoch, NO_LEADER, error=error))
        solo.after(1)
    return times


def test_a_voter_asks_a_handful_of_times_before_the_first_election() -> None:
    solo = unattached(bootstrap_servers=SERVERS)
    times = asked_at(solo, 900, epoch=5)
    assert times == [0, 20, 60, 140, 300, 500, 700]
    assert solo.raft.role == "unattached"


def test_the_pause_does_not_grow_for_ever() -> None:
    solo = observer(bootstrap_servers=SERVERS)
    times = asked_at(solo, 5000, epoch=0)
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert max(pauses) == 10 * solo.config.retry_backoff_ms


def test_a_leader_that_answered_ends_the_pause_and_makes_the_next_one_short() -> None:
    server = PeerNode(id=-2, host="localhost", port=9990)
    connections = RequestManager(
        bootstrap=[server], request_timeout_ms=2000, retry_backoff_ms=20, below=lambda end: 0
    )
    for _ in range(5):
        connections.back_off_bootstrap_servers(1000)
    assert connections.find_ready_bootstrap_server(1199) is None
    assert connections.find_ready_bootstrap_server(1200) == server
    connections.reset_bootstrap_backoff()
    assert connections.find_ready_bootstrap_server(1001) == server
    connections.back_off_bootstrap_servers(2000)
    assert connections.deadline(2000) == 2020
