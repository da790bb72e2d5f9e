"""DescribeQuorum and the metrics: what an admin can see."""

from collections.abc import Callable

import pytest

from kwire.controller.raft import Raft
from kwire.error_codes import ErrorCode
from kwire.messages.a55_describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    PartitionData,
    TopicData,
)
from kwire.messages.metadata_topic import METADATA_TOPIC
from kwire.text.ids import ZERO_UUID
from tests.support.controller.raft.single_replica import (
    SingleReplica,
    candidate,
    fetch_request,
    follower,
    leader,
    log_with,
    only,
    prospective,
    resigned,
    unattached,
    vote_request,
)
from tests.support.controller.raft.virtual_network import directory, static_voters, voter_set
from tests.support.controller.raft.voter_requests import add_request, remove_request


def describe(topic: str = METADATA_TOPIC, partition: int = 0) -> DescribeQuorumRequest:
    wanted = PartitionData(partition_index=partition)
    return DescribeQuorumRequest(topics=[TopicData(topic_name=topic, partitions=[wanted])])


def observed() -> SingleReplica:
    solo = leader()
    solo.ask(fetch_request(4, 5, 0, 0, max_wait_ms=0))
    return solo


def test_a_leader_describes_voters_and_observers() -> None:
    solo = observed()
    response = only(solo.ask(describe()), DescribeQuorumResponse)
    answer = response.topics[0].partitions[0]
    end = solo.raft.end_offset
    assert (answer.leader_id, answer.leader_epoch, answer.high_watermark) == (1, 5, end)
    voters = [
        (v.replica_id, v.replica_directory_id, v.log_end_offset, v.last_fetch_timestamp)
        for v in answer.current_voters
    ]
    assert voters == [
        (1, directory(1), end, solo.now),
        (2, directory(2), end, solo.now),
        (3, directory(3), -1, -1),
    ]
    observers = [(o.replica_id, o.log_end_offset) for o in answer.observers]
    assert observers == [(4, 0)]
    assert [(n.node_id, n.listeners[0].port) for n in response.nodes] == [
        (1, 9001),
        (2, 9002),
        (3, 9003),
    ]


@pytest.mark.parametrize("version", [0, 1])
def test_older_versions_know_neither_directories_nor_nodes(version: int) -> None:
    response = only(observed().ask(describe(), version), DescribeQuorumResponse)
    copy = DescribeQuorumResponse.decode(response.encode(version), version)
    voters = copy.topics[0].partitions[0].current_voters
    assert {voter.replica_directory_id for voter in voters} == {ZERO_UUID}
    assert copy.nodes == []


@pytest.mark.parametrize("state", [unattached, candidate, follower, resigned])
def test_only_a_leader_describes(state: Callable[[], SingleReplica]) -> None:
    answer = only(state().ask(describe()), DescribeQuorumResponse).topics[0].partitions[0]
    assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert (answer.leader_id, answer.leader_epoch) == (0, 0), "Kafka gives no hint either"


@pytest.mark.parametrize("request_", [describe("orders"), describe(partition=1)])
def test_other_partitions_are_unknown(request_: DescribeQuorumRequest) -> None:
    answer = only(leader().ask(request_), DescribeQuorumResponse).topics[0].partitions[0]
    assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_the_high_watermark_of_a_new_leader_is_unknown() -> None:
    response = only(leader(committed=False).ask(describe()), DescribeQuorumResponse)
    assert response.topics[0].partitions[0].high_watermark == -1


def voted() -> SingleReplica:
    solo = unattached()
    solo.ask(vote_request(6))
    return solo


def observing() -> SingleReplica:
    return follower(voters=voter_set(2, 3))


def voted_prospective() -> SingleReplica:
    solo = prospective()
    solo.ask(vote_request(5))
    return solo


@pytest.mark.parametrize(
    ("state", "name", "vote"),
    [
        (unattached, "unattached", -1),
        (voted, "unattached-voted", 2),
        (prospective, "prospective", -1),
        (voted_prospective, "prospective-voted", 2),
        (candidate, "candidate", 1),
        (follower, "follower", -1),
        (observing, "observer", -1),
        (leader, "leader", 1),
        (resigned, "unattached", -1),
    ],
)
def test_the_current_state_has_kafkas_names(
    state: Callable[[], SingleReplica], name: str, vote: int
) -> None:
    metrics = state().raft.metrics
    assert (metrics.current_state, metrics.current_vote) == (name, vote)
    assert metrics.current_vote_directory_id == (directory(vote) if vote > 0 else ZERO_UUID)


def gauges(raft: Raft) -> tuple[int, int, int]:
    metrics = raft.metrics
    return metrics.number_of_voters, metrics.number_of_observers, metrics.number_of_offline_voters


def test_a_leader_counts_voters_observers_and_who_is_silent() -> None:
    solo = observed()
    assert gauges(solo.raft) == (3, 1, 1)
    solo.after(solo.config.fetch_timeout_ms)
    assert gauges(solo.raft) == (3, 1, 2)
    assert gauges(follower().raft) == (3, 0, 0)


def test_a_leader_forgets_observers_that_nobody_asks_about() -> None:
    solo = observed()
    for _ in range(301):
        solo.ask(fetch_request(2, 5, solo.raft.end_offset, 5, max_wait_ms=0))
        solo.after(1_000)
    assert gauges(solo.raft) == (3, 0, 1)


def test_a_voter_change_is_uncommitted_until_it_is_committed() -> None:
    solo = leader()
    assert not solo.raft.metrics.uncommitted_voter_change
    solo.ask(remove_request(3))
    assert solo.raft.metrics.uncommitted_voter_change
    solo.ask(fetch_request(2, 5, solo.raft.end_offset, 5, max_wait_ms=0))
    assert not solo.raft.metrics.uncommitted_voter_change
    assert solo.ask(add_request(2)) != []


def test_static_voters_are_ignored_once_the_log_names_voters() -> None:
    static = static_voters(1, 2, 3)
    assert not unattached(static_voters=static).raft.metrics.ignored_static_voters
    replaced = unattached(static_voters=static, log=log_with(1))
    assert replaced.raft.metrics.ignored_static_voters
    assert not replaced.raft.metrics.is_observer
