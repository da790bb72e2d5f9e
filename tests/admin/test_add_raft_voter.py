"""Controllers become voters of real Kafka as with Kafka's own tool; refusals say why (KIP-853)."""

import re
from collections.abc import Callable
from uuid import UUID

import pytest

from kwire.admin import (
    AdminClient,
    DuplicateVoter,
    RaftVoterEndpoint,
)
from kwire.codec.declaration import Response
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from kwire.text.ids import ZERO_UUID, parse_uuid
from real_kafka import Address, Cluster, Layout
from scripted_node import Script
from scripted_quorum import CLUSTER_ID, scripted_quorum
from tests.support.admin.voter_changes import (
    BOOTSTRAPS,
    OURS,
    STRANGER,
    accepted,
    client,
    endpoint,
    java_voters,
    losing,
    nowhere,
    refused,
    voters,
)
from tests.support.eventually import eventually

OwnCluster = Callable[[Layout], Cluster]


# Codes and messages: facts of Kafka 4.3.1, golden/add-controller-duplicate.txt among them.


@BOOTSTRAPS
async def test_a_voter_is_not_added_twice(quorum: Cluster, bootstrap: str) -> None:
    async with client(quorum, bootstrap) as admin:
        for directory_id in (quorum.controllers[3001].directory_id, STRANGER):
            error = await refused(admin.add_raft_voter, 3001, directory_id, [nowhere()])
            assert isinstance(error, DuplicateVoter)
            assert error.name == "DUPLICATE_VOTER"
            assert "is already part of the set of voters" in str(error)


@BOOTSTRAPS
async def test_a_new_voter_that_cannot_be_reached_is_refused_with_the_reason(
    quorum: Cluster, bootstrap: str
) -> None:
    another = endpoint(quorum.controllers[3000].controller_address)
    async with client(quorum, bootstrap) as admin:
        for wrong in (nowhere(), another):
            error = await refused(admin.add_raft_voter, 3009, STRANGER, [wrong])
            assert (error.code, error.name) == (7, "REQUEST_TIMED_OUT")
            # Which of the two depends on how lately the leader tried that address.
            assert re.search("BROKER_NOT_AVAILABLE|is not ready to receive requests", str(error))


async def test_a_new_voter_without_a_usable_endpoint_or_id_is_refused(quorum: Cluster) -> None:
    other_name = endpoint(Address("127.0.0.1", 1), name="OTHER")
    async with client(quorum) as admin:
        endpoints: list[RaftVoterEndpoint]
        for endpoints in ([], [other_name]):
            error = await refused(admin.add_raft_voter, 3009, STRANGER, endpoints)
            assert "didn't include the endpoint" in str(error)
        for voter_id, directory_id in ((-1, STRANGER), (3009, ZERO_UUID)):
            error = await refused(admin.add_raft_voter, voter_id, directory_id, [nowhere()])
            assert (error.code, error.name) == (42, "INVALID_REQUEST")


async def test_voters_come_and_go_and_kafkas_own_tool_sees_the_same(
    own_cluster: OwnCluster,
) -> None:
    with own_cluster(Layout.quorum()) as cluster:
        first = {(n, node.directory_id) for n, node in cluster.controllers.items()}
        joining = cluster.join_controller(3003)
        text = joining.directory_id
        async with client(cluster) as admin:
            await eventually(
                admin.describe_metadata_quorum,
                lambda q: 3003 in {observer.replica_id for observer in q.observers},
            )
            endpoints = [endpoint(joining.quorum_address)]
            await accepted(lambda: admin.add_raft_voter(3003, text, endpoints))
            four = await admin.describe_metadata_quorum()
            assert voters(four) == java_voters(cluster) == first | {(3003, text)}
            assert four.nodes[3003].endpoints == (endpoint(joining.quorum_address),)

            dashed = str(parse_uuid(text))
            await accepted(lambda: admin.remove_raft_voter(3003, dashed))
            three = await admin.describe_metadata_quorum()
            assert voters(three) == java_voters(cluster) == first

            leader = three.leader_id
            own = parse_uuid(cluster.controllers[leader].directory_id)
            await accepted(lambda: admin.remove_raft_voter(leader, own.hex))
            two = await eventually(admin.describe_metadata_quorum, lambda q: q.leader_id != leader)
            assert two.leader_epoch > three.leader_epoch
            expected = {voter for voter in first if voter[0] != leader}
            assert voters(two) == java_voters(cluster) == expected
            await eventually(
                admin.describe_metadata_quorum,
                lambda q: leader in {observer.replica_id for observer in q.observers},
            )


def answering(answer: Response) -> Script:
    return lambda request: answer


async def test_an_addition_whose_answer_was_lost_is_asked_for_again() -> None:
    async with scripted_quorum(1) as one:
        one.nodes[0].scripts[AddRaftVoterRequest] = losing(0, False, one)
        async with AdminClient(bootstrap_controllers=one.addresses()) as admin:
            await admin.add_raft_voter(*OURS, [nowhere()])
        assert len(one.nodes[0].requests(AddRaftVoterRequest)) == 2


async def test_an_addition_that_had_worked_is_no_duplicate() -> None:
    async with scripted_quorum(1) as one:
        one.nodes[0].scripts[AddRaftVoterRequest] = losing(126, True, one)
        async with AdminClient(bootstrap_controllers=one.addresses()) as admin:
            await admin.add_raft_voter(*OURS, [nowhere()])


async def test_a_lost_answer_does_not_hide_a_duplicate_with_another_directory() -> None:
    async with scripted_quorum(1) as one:
        one.voters = {(OURS[0], UUID(int=4))}
        one.nodes[0].scripts[AddRaftVoterRequest] = losing(126, False, one)
        async with AdminClient(bootstrap_controllers=one.addresses()) as admin:
            with pytest.raises(DuplicateVoter, match="as it is"):
                await admin.add_raft_voter(*OURS, [nowhere()])


async def test_a_change_follows_the_leader_and_names_the_cluster_and_its_own_time_limit() -> None:
    async with scripted_quorum(2) as two:
        two.active, two.leading = 0, 1
        for node, code in zip(two.nodes, (6, 0), strict=True):
            node.scripts[AddRaftVoterRequest] = answering(AddRaftVoterResponse(error_code=code))
        async with AdminClient(bootstrap_controllers=two.addresses(0)) as admin:
            await admin.add_raft_voter(*OURS, [nowhere()], timeout=600)
        (sent,) = two.nodes[1].requests(AddRaftVoterRequest)
        assert isinstance(sent, AddRaftVoterRequest)
        assert sent.cluster_id == CLUSTER_ID
        assert sent.ack_when_committed
        assert 300_000 < sent.timeout_ms < 600_000


async def test_a_refusal_is_not_asked_again_though_kafka_calls_it_retriable() -> None:
    async with scripted_quorum(1) as one:
        answer = AddRaftVoterResponse(error_code=7, error_message="not ready")
        one.nodes[0].scripts[AddRaftVoterRequest] = lambda request: answer
        async with AdminClient(bootstrap_controllers=one.addresses()) as admin:
            error = await refused(admin.add_raft_voter, *OURS, [nowhere()])
        assert str(error) == "REQUEST_TIMED_OUT: not ready"
        assert len(one.nodes[0].requests(AddRaftVoterRequest)) == 1
