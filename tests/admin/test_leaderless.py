"""Controllers that do not describe the cluster: restarted alone, too old, or without the right.

How they answer was seen at Kafka 4.3.1 and 3.9.1 (tests/cli/test_leaderless_on_kafka.py).
"""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

import pytest

from kwire.admin import AdminClient, NoReachableLeader
from kwire.admin.errors import ClusterIdNotTold, MetadataNotRead
from kwire.admin.find_quorum import find_quorum
from kwire.codec.declaration import Request, Response
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError, UnsupportedVersion
from kwire.messages.a01_fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from kwire.messages.a18_api_versions import ApiVersionsRequest, SupportedFeatureKey
from kwire.messages.a32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kwire.messages.a46_list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest, Listener, Node
from kwire.messages.a60_describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kwire.net.frames import RequestFrame
from scripted_node import Raw, Script, ScriptedNode, api_versions
from scripted_quorum import LEADER_EPOCH, quorum_answer
from tests.support.virtual_time import in_virtual_time

DENIED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
OFFERED: tuple[type[Request], ...] = (
    DescribeClusterRequest,
    DescribeConfigsRequest,
    DescribeQuorumRequest,
    FetchRequest,
    ListPartitionReassignmentsRequest,
    RemoveRaftVoterRequest,
    VoteRequest,
)


@dataclass
class Controllers:
    """Controllers 0, 1, 2 …, of which `leading` leads and `unread` have read no metadata.

    describes, fetches: the codes with which all of them refuse DescribeCluster and Fetch.
    followed: the leader that each of them names.
    """

    nodes: list[ScriptedNode]
    leading: int | None = None
    unread: set[int] = field(default_factory=set)
    describes: ErrorCode = ErrorCode.NONE
    fetches: ErrorCode = ErrorCode.FENCED_LEADER_EPOCH
    followed: int | None = None
    tells_voters: bool = True

    def scripts(self, index: int) -> dict[type[Request], Script]:
        answers: dict[type[Request], Callable[[int], Response | Raw]] = {
            ApiVersionsRequest: self._versions,
            DescribeClusterRequest: self._cluster,
            DescribeConfigsRequest: self._configs,
            DescribeQuorumRequest: self._quorum,
            FetchRequest: self._fetched,
            ListPartitionReassignmentsRequest: lambda _: ListPartitionReassignmentsResponse(),
            RemoveRaftVoterRequest: self._removed,
        }
        return {request: _script(answer, index) for request, answer in answers.items()}

    def addresses(self, *indices: int) -> str:
        return ",".join(self.nodes[index].address for index in indices or range(len(self.nodes)))

    def _versions(self, index: int) -> Response:
        answer = api_versions(ApiVersionsRequest, *OFFERED)
        answer.supported_features = [
            SupportedFeatureKey(name="metadata.version", min_version=7, max_version=29)
        ]
        answer.finalized_features_epoch = -1 if index in self.unread else 5
        return answer

    def _cluster(self, index: int) -> Response:
        if index in self.unread:
            text = "Direct-to-controller communication is not supported with the current"
            return DescribeClusterResponse(error_code=35, error_message=f"{text} MetadataVersion.")
        if self.describes:
            return DescribeClusterResponse(error_code=self.describes, error_message="refused")
        brokers = [
            DescribeClusterBroker(broker_id=id, host="127.0.0.1", port=node.port)
            for id, node in enumerate(self.nodes)
        ]
        controller = -1 if self.leading is None else self.leading
        return DescribeClusterResponse(
            cluster_id="scripted", controller_id=controller, brokers=brokers
        )

    def _configs(self, index: int) -> Response:
        text = f"Unexpected broker id, expected {index} or empty string, but received -1"
        result = DescribeConfigsResult(error_code=42, error_message=text)
        return DescribeConfigsResponse(results=[result])

    def _quorum(self, index: int) -> Response:
        if index != self.leading:
            return quorum_answer(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        voters = [(id, UUID(int=id + 1)) for id in range(len(self.nodes)) if self.tells_voters]
        answer = quorum_answer(voters=voters)
        answer.topics[0].partitions[0].leader_id = index
        answer.nodes = [
            Node(node_id=id, listeners=[Listener(name="C", host="127.0.0.1", port=node.port)])
            for id, node in enumerate(self.nodes)
            if self.tells_voters
        ]
        return answer

    def _fetched(self, index: int) -> Response:
        if self.fetches is not ErrorCode.FENCED_LEADER_EPOCH:
            return FetchResponse(error_code=self.fetches)
        leader = LeaderIdAndEpoch(leader_id=-1, leader_epoch=4)
        endpoints = []
        if self.followed is not None:
            leader.leader_id = self.followed
            port = self.nodes[self.followed].port
            endpoints = [NodeEndpoint(node_id=self.followed, host="127.0.0.1", port=port)]
        partition = PartitionData(error_code=self.fetches, current_leader=leader)
        topic = FetchableTopicResponse(
            topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition]
        )
        return FetchResponse(responses=[topic], node_endpoints=endpoints)

    def _removed(self, index: int) -> Response:
        code = ErrorCode.NONE if index == self.leading else ErrorCode.NOT_LEADER_OR_FOLLOWER
        return RemoveRaftVoterResponse(error_code=code)


def _script(answer: Callable[[int], Response | Raw], index: int) -> Script:
    def script(request: RequestFrame) -> Response | Raw:
        return answer(index)

    return script


@asynccontextmanager
async def controllers(count: int) -> AsyncIterator[Controllers]:
    async with AsyncExitStack() as stack:
        nodes = [await stack.enter_async_context(ScriptedNode()) for _ in range(count)]
        cluster = Controllers(nodes)
        for index, node in enumerate(nodes):
            node.scripts = cluster.scripts(index)
        yield cluster


async def alone(cluster: Controllers) -> None:
    """Leave controller 0 alone, restarted."""
    for node in cluster.nodes[1:]:
        await node.stop()
    cluster.unread = {0}


@in_virtual_time
async def test_a_restarted_controller_alone_is_waited_for_and_described() -> None:
    async with controllers(3) as three:
        await alone(three)
        async with AdminClient(bootstrap_controllers=three.addresses(), timeout=20) as admin:
            began = time.monotonic()
            with pytest.raises(NoReachableLeader) as caught:
                await admin.describe_metadata_quorum()
            assert 18 < time.monotonic() - began < 21  # the other voters may be starting, too
    assert str(caught.value) == (
        f"no reachable leader: controller 0 at {three.nodes[0].address} runs, has read no metadata"
        " since it started and knows no leader in epoch 4; 1 of 3 addresses answers: start enough"
        " of the others for a majority (if their disks are lost for good: kwire storage recover),"
        f" and run kwire doctor --bootstrap-controller {three.addresses()}"
    )


@in_virtual_time
async def test_a_script_that_races_a_cold_start_gets_the_answer_of_the_leader() -> None:
    async with controllers(3) as three:
        await alone(three)
        asked = 0

        def later(request: RequestFrame) -> Response | Raw:
            nonlocal asked
            asked += 1
            if asked == 8:  # after several seconds
                three.unread, three.leading = set(), 0
            return three._quorum(0)

        three.nodes[0].scripts[DescribeQuorumRequest] = later
        async with AdminClient(bootstrap_controllers=three.addresses(), timeout=60) as admin:
            began = time.monotonic()
            assert (await admin.describe_metadata_quorum()).leader_epoch == LEADER_EPOCH
            assert time.monotonic() - began > 3
            assert await admin.cluster_id() == "scripted"


@in_virtual_time
async def test_other_addresses_are_tried_beside_a_restarted_controller() -> None:
    async with controllers(3) as three:
        three.unread, three.leading = {0, 1}, 2
        async with AdminClient(bootstrap_controllers=three.addresses()) as admin:
            assert (await admin.describe_metadata_quorum()).leader_id == 2
            assert (await admin.describe_cluster()).cluster_id == "scripted"


@in_virtual_time
async def test_what_a_restarted_controller_would_answer_from_nothing_is_not_asked() -> None:
    """Kafka's says that nothing moves, that there are no ACLs and that topics do not exist."""
    async with controllers(1) as one:
        one.unread = {0}
        async with AdminClient(bootstrap_controllers=one.addresses(), timeout=3) as admin:
            with pytest.raises(NoReachableLeader, match="has read no metadata"):
                await admin.list_partition_reassignments()
            with pytest.raises(NoReachableLeader, match="has read no metadata"):
                await admin.describe_features()
            with pytest.raises(NoReachableLeader, match="has read no metadata"):
                await admin.describe_first_features()
            assert one.nodes[0].requests(ListPartitionReassignmentsRequest) == []
            one.unread, one.leading = set(), 0
            assert await admin.list_partition_reassignments() == {}  # on the same connection


async def test_a_node_that_reads_its_metadata_between_two_questions_is_asked_again() -> None:
    async with controllers(1) as one:
        one.unread, one.leading = {0}, 0
        refuse = one.nodes[0].scripts[DescribeClusterRequest]

        def once(request: RequestFrame) -> Response | Raw:
            answer = refuse(request)
            one.unread = set()
            return answer

        one.nodes[0].scripts[DescribeClusterRequest] = once
        async with AdminClient(bootstrap_controllers=one.addresses()) as admin:
            assert (await admin.describe_cluster()).cluster_id == "scripted"


async def test_a_metadata_version_that_is_too_old_is_no_missing_leader() -> None:
    async with controllers(1) as one:
        one.leading, one.describes, one.tells_voters = 0, ErrorCode.UNSUPPORTED_VERSION, False
        async with AdminClient(bootstrap_controllers=one.addresses()) as admin:
            assert (await admin.describe_metadata_quorum()).leader_epoch == LEADER_EPOCH
            assert await admin.cluster_id() is None
            with pytest.raises(BrokerError, match="UNSUPPORTED_VERSION: refused") as caught:
                await admin.describe_cluster()
            assert not isinstance(caught.value, MetadataNotRead)


async def test_a_principal_without_alter_gets_the_voters_of_the_leader() -> None:
    async with controllers(3) as three:
        three.leading, three.describes, three.fetches = 2, DENIED, DENIED
        async with AdminClient(bootstrap_controllers=three.addresses()) as admin:
            assert (await admin.describe_metadata_quorum()).leader_id == 2
            assert await admin.cluster_id() is None
            cluster = await admin.describe_cluster()
            assert cluster.cluster_id is None
            with pytest.raises(ClusterIdNotTold, match="the right ALTER on the cluster"):
                cluster.told_cluster_id()
            assert cluster.controller_id == 2
            assert [str(node.address) for node in cluster.nodes.values()] == (
                three.addresses().split(",")
            )
            await admin.remove_raft_voter(1, UUID(int=2))
        (request,) = three.nodes[2].requests(RemoveRaftVoterRequest)
        assert isinstance(request, RemoveRaftVoterRequest)
        assert request.cluster_id is None  # unknown: never empty
        assert len(three.nodes[0].requests(DescribeClusterRequest)) <= 3


async def test_a_leader_that_a_follower_names_is_asked_without_its_address_as_bootstrap() -> None:
    async with controllers(3) as three:
        three.leading = three.followed = 2
        three.describes = DENIED
        async with AdminClient(bootstrap_controllers=three.addresses(0)) as admin:
            assert (await admin.describe_metadata_quorum()).leader_id == 2


@in_virtual_time
async def test_controllers_whose_addresses_nobody_tells_are_asked_for() -> None:
    async with controllers(2) as two:
        two.leading, two.describes, two.fetches = 1, DENIED, DENIED
        async with AdminClient(bootstrap_controllers=two.addresses(0)) as admin:
            with pytest.raises(NoReachableLeader) as caught:
                await admin.describe_metadata_quorum()
    assert str(caught.value) == (
        f"no reachable leader: controller 0 at {two.nodes[0].address} runs and does not lead; 1 of"
        " 1 addresses answers: the addresses of the other controllers were not told"
        " (CLUSTER_AUTHORIZATION_FAILED: refused): give all of them as bootstrap"
    )


async def test_a_controller_older_than_kip_919_describes_its_quorum() -> None:
    """Kafka 3.6 offers Vote and DescribeQuorum v1 at controllers, and no DescribeCluster."""
    async with controllers(3) as three:
        three.leading, three.tells_voters = 1, False
        old = api_versions(Vote=(0, 0), DescribeQuorum=(0, 1))
        for node in three.nodes:
            node.scripts[ApiVersionsRequest] = lambda request: old
        async with AdminClient(bootstrap_controllers=three.addresses()) as admin:
            assert (await admin.describe_metadata_quorum()).leader_id == 1
            assert await admin.cluster_id() is None
            with pytest.raises(UnsupportedVersion, match=r"is a controller older than Kafka 3\.7"):
                await admin.describe_cluster()
        assert await find_quorum(three.addresses(), client_id="test") is None


@in_virtual_time
async def test_that_nobody_leads_stays_the_error_when_time_runs_out_in_a_question() -> None:
    async with controllers(1) as one:
        one.unread = {0}
        cluster = one.nodes[0].scripts[DescribeClusterRequest]
        began = time.monotonic()

        def silent_at_last(request: RequestFrame) -> Response | Raw:
            return Raw() if time.monotonic() - began > 2 else cluster(request)

        one.nodes[0].scripts[DescribeClusterRequest] = silent_at_last
        async with AdminClient(bootstrap_controllers=one.addresses(), timeout=3) as admin:
            with pytest.raises(NoReachableLeader, match="has read no metadata"):
                await admin.describe_metadata_quorum()
