"""Every answer can be written at the version of its request, and every request for older peers."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kwire.codec.declaration import Request
from kwire.controller.raft import API_KEYS, dispatch
from kwire.errors import EncodeError
from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a53_begin_quorum_epoch import BeginQuorumEpochRequest
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochRequest
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest
from tests.support.controller.raft.quorum_requests import REQUESTS
from tests.support.controller.raft.single_replica import (
    SingleReplica,
    follower,
    leader,
    prospective,
    resigned,
    unattached,
)
from tests.support.controller.raft.virtual_network import dynamic_quorum, endpoints

State = Callable[[], SingleReplica]


@pytest.mark.parametrize("state", [unattached, follower, leader, resigned])
def test_an_answer_fits_the_version_of_its_request(state: State, subtests: pytest.Subtests) -> None:
    for request in REQUESTS:
        for version in type(request).versions:
            with subtests.test(f"{type(request).__name__} v{version}"):
                (response,) = state().ask(request.replace(), version)
                kind = type(response)
                assert kind.decode(response.encode(version), version).encode(version)


def test_every_request_between_replicas_is_tried() -> None:
    assert {type(request).key for request in REQUESTS} == API_KEYS


def encodable(request: Request) -> set[int]:
    """The versions that can carry it."""
    found = set()
    for version in type(request).versions:
        try:
            request.encode(version)
        except EncodeError:
            continue
        found.add(version)
    return found


def test_requests_can_be_written_for_older_peers() -> None:
    network = dynamic_quorum(1, 2, 3)
    network.commit(b"a")
    assert network.elect().running.role == "leader"
    told = leader(committed=False)
    told.after(told.config.request_timeout_ms)
    moved = follower(endpoints=endpoints(1, 5555))
    sent: dict[type[Request], Request] = {
        VoteRequest: prospective().sent(VoteRequest)[0][1],
        BeginQuorumEpochRequest: told.sent(BeginQuorumEpochRequest)[0][1],
        EndQuorumEpochRequest: resigned().sent(EndQuorumEpochRequest)[0][1],
        FetchRequest: moved.sent(FetchRequest)[0][1],
    }
    assert encodable(sent[VoteRequest]) == {2}, "a pre-vote: who knows none answers nothing"
    assert encodable(sent[BeginQuorumEpochRequest]) == {0, 1}
    assert encodable(sent[EndQuorumEpochRequest]) == {0, 1}
    assert {17, 18} <= encodable(sent[FetchRequest])
    assert encodable(AddRaftVoterRequest(ack_when_committed=False)) == {1}


def test_every_rpc_has_its_tests_in_the_file_of_its_name() -> None:
    for handler in dispatch.REQUEST_HANDLERS.values():
        name = handler.__module__.rsplit(".", 1)[-1]
        assert Path(__file__).with_name(f"test_{name}.py").exists()
