"""Voters come and go in real Kafka as with Kafka's own tool, and refusals say why (KIP-853)."""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest

from kwire.admin import (
    AdminClient,
    DuplicateVoter,
    InconsistentClusterId,
    NoReachableLeader,
    QuorumInfo,
    RaftVoterEndpoint,
    VoterNotFound,
)
from kwire.codec.declaration import Response
from kwire.errors import AnswerLost, BrokerError, InvalidValue
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from kwire.net.frames import RequestFrame
from kwire.text.ids import ZERO_UUID, parse_uuid, uuid_text
from real_kafka import Address, Cluster, Layout
from scripted_node import HANG_UP, Raw, Script
from scripted_quorum import CLUSTER_ID, ScriptedQuorum, scripted_quorum

Voter = tuple[int, str]
OwnCluster = Callable[[Layout], Cluster]

PATIENCE = 60.0
AT_ONCE = 20.0
"""Seconds, on a machine that is busy; who waited in vain would have taken PATIENCE."""

STRANGER = parse_uuid("AAAAAAAAQACAAAAAAAAwBQ")
BOOTSTRAPS = pytest.mark.parametrize("bootstrap", ["bootstrap_controllers", "bootstrap_servers"])


def client(cluster: Cluster, bootstrap: str = "bootstrap_controllers") -> AdminClient:
    return AdminClient(**{bootstrap: getattr(cluster, bootstrap)}, timeout=PATIENCE)


def endpoint(address: Address, name: str = "CONTROLLER") -> RaftVoterEndpoint:
    return RaftVoterEndpoint(name=name, host=address.host, port=address.port)


def nowhere() -> RaftVoterEndpoint:
    return endpoint(Address("127.0.0.1", 1))


def java_voters(cluster: Cluster) -> set[Voter]:
    """The voter set that Kafka's own tool prints."""
    told = cluster.tool(
        "org.apache.kafka.tools.MetadataQuorumCommand",
        "--bootstrap-controller",
        cluster.bootstrap_controllers,
        "describe",
        "--status",
    )
    found = re.search(r"CurrentVoters:\s+(.*)", told.stdout)
    assert found, told.stderr
    return {(one["id"], one["directoryId"]) for one in json.loads(found[1])}


def voters(quorum: QuorumInfo) -> set[Voter]:
    return {
        (one.replica_id, uuid_text(one.replica_directory_id or ZERO_UUID)) for one in quorum.voters
    }


async def until(admin: AdminClient, holds: Callable[[QuorumInfo], bool]) -> QuorumInfo:
    """The first description for which this holds."""
    async with asyncio.timeout(PATIENCE):
        while True:
            quorum = await admin.describe_metadata_quorum()
            if holds(quorum):
                return quorum
            await asyncio.sleep(0.1)


async def accepted(change: Callable[[], Awaitable[None]]) -> None:
    """Make a change as soon as it is its turn.

    Voters that have just started tell the leader their endpoints (UpdateRaftVoter); while such a
    change is pending, another is answered with REQUEST_TIMED_OUT.
    """
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                return await change()
            except BrokerError as error:
                if error.name != "REQUEST_TIMED_OUT":
                    raise
                await asyncio.sleep(0.2)


async def refused(
    operation: Callable[..., Awaitable[None]], *arguments: object, **options: object
) -> BrokerError:
    """The refusal, which changes nothing, when it is this change's turn."""
    while True:
        with pytest.raises(BrokerError) as caught:
            await operation(*arguments, **options)
        if "Request timed out waiting" not in str(caught.value):
            return caught.value
        await asyncio.sleep(0.2)


# Codes and messages: facts of Kafka 4.3.1, golden/add-controller-duplicate.txt and
# golden/remove-controller-unknown.txt among them.


@BOOTSTRAPS
async def test_a_voter_is_not_added_twice(quorum: Cluster, bootstrap: str) -> None:
    async with client(quorum, bootstrap) as admin:
        for directory_id in (quorum.controllers[3001].directory_id, STRANGER):
            error = await refused(admin.add_raft_voter, 3001, directory_id, [nowhere()])
            assert isinstance(error, DuplicateVoter)
            assert error.name == "DUPLICATE_VOTER"
            assert "is already part of the set of voters" in str(error)


@BOOTSTRAPS
async def test_a_voter_is_removed_only_by_both_its_ids(quorum: Cluster, bootstrap: str) -> None:
    async with client(quorum, bootstrap) as admin:
        own = quorum.controllers[3000].directory_id
        for voter_id, directory_id in ((3005, own), (3000, uuid_text(STRANGER))):
            error = await refused(admin.remove_raft_voter, voter_id, directory_id)
            assert isinstance(error, VoterNotFound)
            assert f"ReplicaKey(id={voter_id}, directoryId={directory_id})" in str(error)


@BOOTSTRAPS
async def test_another_clusters_id_is_refused(quorum: Cluster, bootstrap: str) -> None:
    own = quorum.controllers[3000].directory_id
    async with client(quorum, bootstrap) as admin:
        for change, arguments in (
            (admin.remove_raft_voter, (3000, own)),
            (admin.add_raft_voter, (3009, STRANGER, [nowhere()])),
        ):
            error = await refused(change, *arguments, cluster_id="another")
            assert isinstance(error, InconsistentClusterId)
    assert str(error) == (
        'INCONSISTENT_CLUSTER_ID: The given id "another" doesn\'t match the cluster id'
        f' "{quorum.cluster_id}"'
    )


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


async def test_a_directory_id_that_is_none_is_refused_before_anything_is_sent() -> None:
    async with AdminClient(bootstrap_controllers="127.0.0.1:1") as admin:
        with pytest.raises(InvalidValue, match="'3000' is no id"):
            await admin.remove_raft_voter(3000, "3000")


async def test_voters_come_and_go_and_kafkas_own_tool_sees_the_same(
    own_cluster: OwnCluster,
) -> None:
    with own_cluster(Layout.quorum()) as cluster:
        first = {(n, node.directory_id) for n, node in cluster.controllers.items()}
        joining = cluster.join_controller(3003)
        text = joining.directory_id
        async with client(cluster) as admin:
            await until(admin, lambda q: 3003 in {one.replica_id for one in q.observers})
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
            two = await until(admin, lambda q: q.leader_id != leader)
            assert two.leader_epoch > three.leader_epoch
            expected = {voter for voter in first if voter[0] != leader}
            assert voters(two) == java_voters(cluster) == expected
            await until(admin, lambda q: leader in {one.replica_id for one in q.observers})


async def test_a_dead_leader_is_replaced_and_a_lost_majority_is_told_at_once(
    own_cluster: OwnCluster,
) -> None:
    with own_cluster(Layout.quorum()) as cluster:
        async with client(cluster) as admin:
            first = await admin.describe_metadata_quorum()
            cluster.controllers[first.leader_id].kill()
            second = await admin.describe_metadata_quorum()
            assert second.leader_id != first.leader_id
            assert second.leader_epoch > first.leader_epoch
            assert (await admin.describe_metadata_quorum()).leader_id == second.leader_id

            dead = cluster.controllers[second.leader_id]
            dead.kill()
            await told_at_once(admin, second.leader_id, dead.controller_address)
        async with client(cluster) as admin:  # one that never knew better
            await told_at_once(admin, second.leader_id, dead.controller_address)
            assert (await admin.describe_cluster()).cluster_id == cluster.cluster_id
        async with client(cluster, "bootstrap_servers") as admin:
            with pytest.raises(AnswerLost, match="brokers forward to the active controller"):
                await admin.describe_metadata_quorum(timeout=3)


async def told_at_once(admin: AdminClient, last: int, address: Address) -> None:
    start = time.monotonic()
    with pytest.raises(NoReachableLeader) as caught:
        await admin.describe_metadata_quorum()
    assert time.monotonic() - start < AT_ONCE
    assert str(caught.value).startswith(f"no reachable leader; last known {last} at {address} (")


@pytest.mark.parametrize("version", ["3.9.1", "4.3.1"])
async def test_static_voters_have_no_directory_ids_and_cannot_be_changed(
    own_cluster: OwnCluster, version: str
) -> None:
    layout = Layout(controllers=(1,), brokers=(1,), version=version, static=True)
    with own_cluster(layout) as cluster:
        async with client(cluster) as admin:
            quorum = await admin.describe_metadata_quorum()
            assert [one.replica_id for one in quorum.voters] == [1]
            error = await refused(admin.remove_raft_voter, 1, UUID(int=5))
    # golden/remove-controller-static391.txt
    assert error.name == "UNSUPPORTED_VERSION"
    assert "the kraft.version feature is 0" in str(error)


OURS = (3, UUID(int=3))


def losing(then: int, worked: bool, quorum: ScriptedQuorum) -> Script:
    """A leader that hangs up at the first request, after it `worked`, and later answers a code."""
    asked: list[RequestFrame] = []

    def script(request: RequestFrame) -> Response | Raw:
        asked.append(request)
        if len(asked) == 1:
            if worked:
                quorum.voters ^= {OURS}
            return HANG_UP
        added = isinstance(request.body, AddRaftVoterRequest)
        answer = AddRaftVoterResponse if added else RemoveRaftVoterResponse
        return answer(error_code=then, error_message="as it is")

    return script


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


async def test_a_removal_that_had_worked_misses_no_voter() -> None:
    async with scripted_quorum(1) as one:
        one.voters = {OURS}
        one.nodes[0].scripts[RemoveRaftVoterRequest] = losing(127, True, one)
        async with AdminClient(bootstrap_controllers=one.addresses()) as admin:
            await admin.remove_raft_voter(*OURS)
        assert one.voters == set()


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
