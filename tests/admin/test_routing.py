"""The leader is found through any controller, and its absence is told soon and in one sentence."""

import time
from uuid import UUID

import pytest

from kwire.admin import AdminClient, MismatchedEndpointType, NoReachableLeader
from kwire.admin.bootstrap import Bootstrap
from kwire.admin.failures import Failures
from kwire.codec.declaration import Response
from kwire.errors import (
    AnswerLost,
    BrokerError,
    ConnectionFailed,
    DecodeError,
    UnsupportedVersion,
)
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from kwire.messages.a60_describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest
from kwire.net.address import Address
from kwire.net.frames import RequestFrame
from scripted_node import HANG_UP, SILENCE, Raw, Script, ScriptedNode, api_versions
from scripted_quorum import LEADER_EPOCH, ScriptedQuorum, quorum_answer, scripted_quorum
from tests.support.virtual_time import in_virtual_time

PATIENCE = 60.0


def client(quorum: ScriptedQuorum, *indices: int, timeout: float = PATIENCE) -> AdminClient:
    """A client that starts at these controllers, or at all."""
    return AdminClient(bootstrap_controllers=quorum.addresses(*indices), timeout=timeout)


def electing(quorum: ScriptedQuorum, *, winner: int, at: int) -> None:
    """Nobody leads until the controller `at` has been asked three times."""
    quorum.leading = -1
    answer = quorum.nodes[at].scripts[DescribeQuorumRequest]

    def script(request: RequestFrame) -> Response | Raw:
        if len(quorum.nodes[at].requests(DescribeQuorumRequest)) == 3:
            quorum.leading = winner
        return answer(request)

    quorum.nodes[at].scripts[DescribeQuorumRequest] = script


async def epoch(admin: AdminClient) -> int:
    return (await admin.describe_metadata_quorum()).leader_epoch


async def test_the_controller_that_a_follower_names_is_asked_at_once() -> None:
    async with scripted_quorum(3) as three:
        three.active = three.leading = 2
        async with client(three, 0) as admin:
            assert await epoch(admin) == LEADER_EPOCH
        assert three.asked() == [0, 0, 1]


async def test_a_leader_that_was_found_is_asked_again_without_searching() -> None:
    async with scripted_quorum(3) as three:
        three.active = three.leading = 1
        async with client(three, 0) as admin:
            assert [await epoch(admin), await epoch(admin)] == [LEADER_EPOCH] * 2
        assert three.asked() == [0, 2, 0]
        assert len(three.nodes[0].requests(DescribeClusterRequest)) == 1


async def test_a_leader_other_than_the_one_named_is_found() -> None:
    async with scripted_quorum(3) as three:
        three.active, three.leading = 0, 2
        async with client(three, 0) as admin:
            assert await epoch(admin) == LEADER_EPOCH
            assert three.asked() == [1, 1, 1]
            assert await epoch(admin) == LEADER_EPOCH
        assert three.asked() == [1, 1, 2]


@in_virtual_time
async def test_a_leader_that_steps_down_is_followed_by_its_successor() -> None:
    async with scripted_quorum(3) as three:
        async with client(three) as admin:
            await epoch(admin)
            three.active = three.leading = 1
            assert await epoch(admin) == LEADER_EPOCH
        assert three.asked()[1] == 1


@in_virtual_time
async def test_a_leader_that_dies_is_found_again_when_another_is_elected() -> None:
    async with scripted_quorum(3) as three, client(three, 0, 1) as admin:
        await epoch(admin)
        await three.nodes[0].stop()
        three.leading = 2  # controller 1 goes on naming the dead one
        assert await epoch(admin) == LEADER_EPOCH


@in_virtual_time
async def test_a_client_that_started_at_one_address_survives_the_loss_of_that_node() -> None:
    async with scripted_quorum(3) as three, client(three, 0) as admin:
        await epoch(admin)
        await three.nodes[0].stop()
        electing(three, winner=2, at=2)
        assert await epoch(admin) == LEADER_EPOCH


@in_virtual_time
async def test_a_leader_that_joined_meanwhile_is_learned() -> None:
    async with scripted_quorum(3) as three, client(three, 0) as admin:
        joining = three.nodes.pop()
        await epoch(admin)
        three.nodes.append(joining)
        three.active = three.leading = 2
        assert await epoch(admin) == LEADER_EPOCH


@pytest.mark.parametrize("noticed", [True, False])
@in_virtual_time
async def test_a_lone_node_that_dies_is_not_mistaken_for_a_lost_majority(noticed: bool) -> None:
    async with scripted_quorum(1) as one, client(one) as admin:
        await epoch(admin)
        (connection,) = admin._connections._connections.values()
        await one.nodes[0].stop()
        if noticed:
            await connection._link._ended.wait()
        with pytest.raises(ConnectionFailed, match=r"refused|closed the connection") as caught:
            await admin.describe_metadata_quorum(timeout=0.05)
        assert not isinstance(caught.value, NoReachableLeader)


async def test_a_lost_answer_of_describe_cluster_is_asked_for_again() -> None:
    async with scripted_quorum(1) as one:
        answer = one.nodes[0].scripts[DescribeClusterRequest]
        scripts: list[Script] = [lambda request: HANG_UP, answer]
        one.nodes[0].scripts[DescribeClusterRequest] = lambda request: scripts.pop(0)(request)
        async with client(one) as admin:
            assert await epoch(admin) == LEADER_EPOCH
        assert scripts == []


@in_virtual_time
async def test_a_leader_that_comes_back_in_time_is_asked_without_an_error() -> None:
    async with scripted_quorum(3) as three:
        electing(three, winner=1, at=2)
        async with client(three) as admin:
            assert await epoch(admin) == LEADER_EPOCH


async def test_a_leader_that_advertises_an_unreachable_address_is_found_at_the_bootstrap() -> None:
    async with scripted_quorum(1) as one:
        answer = DescribeClusterResponse(
            cluster_id="c",
            controller_id=5,
            brokers=[DescribeClusterBroker(broker_id=5, host="127.0.0.1", port=1)],
        )
        one.nodes[0].scripts[DescribeClusterRequest] = lambda request: answer
        async with client(one) as admin:
            assert await epoch(admin) == LEADER_EPOCH


@in_virtual_time
async def test_too_few_controllers_for_a_leader_are_told_at_once() -> None:
    async with scripted_quorum(3) as three:
        three.active, three.leading = 2, -1
        dead = [three.nodes[1].address, three.nodes[2].address]
        await three.nodes[1].stop()
        await three.nodes[2].stop()
        start = time.monotonic()
        async with client(three) as admin:
            with pytest.raises(NoReachableLeader) as caught:
                await admin.describe_metadata_quorum()
        assert time.monotonic() - start < 2
    said = str(caught.value)
    assert said.startswith(f"no reachable leader; last known 2 at {dead[1]} (")
    assert "3 controllers are registered" in said
    assert ": start enough of the others for a majority (" in said
    assert said.endswith(f"run kwire doctor --bootstrap-controller {','.join(three.addresses())}")


@in_virtual_time
async def test_enough_controllers_without_a_leader_are_waited_for_until_time_is_up() -> None:
    async with scripted_quorum(3) as three:
        three.active = three.leading = -1
        async with client(three, timeout=3) as admin:
            with pytest.raises(NoReachableLeader) as caught:
                await admin.describe_metadata_quorum()
        assert str(caught.value).startswith("no reachable leader; none known. ")
        assert ": they may be electing one, try again, or run kwire doctor" in str(caught.value)
        assert min(three.asked()) > 1


async def test_ports_where_nothing_listens_are_each_named_at_once() -> None:
    async with scripted_quorum(2) as two:
        admin = client(two, timeout=PATIENCE)
        addresses = [node.address for node in two.nodes]
    async with admin:
        with pytest.raises(ConnectionFailed) as caught:
            await admin.describe_metadata_quorum()
    assert str(caught.value).startswith("no controller answers: ")
    assert all(f"{address} refused" in str(caught.value) for address in addresses)


async def test_one_dead_bootstrap_address_does_no_harm() -> None:
    async with scripted_quorum(2) as two:
        two.active = two.leading = 1
        await two.nodes[0].stop()
        async with client(two) as admin:
            assert await epoch(admin) == LEADER_EPOCH


async def test_a_bootstrap_address_that_is_no_kafka_does_no_harm_beside_a_good_one() -> None:
    async with scripted_quorum(2) as two, ScriptedNode() as stranger:
        stranger.scripts = {ApiVersionsRequest: lambda request: DescribeQuorumResponse()}
        addresses = [stranger.address, two.nodes[0].address]
        async with AdminClient(bootstrap_controllers=addresses) as admin:
            assert await epoch(admin) == LEADER_EPOCH


async def test_a_controller_older_than_kip_919_is_named() -> None:
    async with scripted_quorum(1) as one:
        one.nodes[0].scripts[ApiVersionsRequest] = lambda request: api_versions(
            Vote=(0, 0), DescribeQuorum=(0, 1)
        )
        address = one.nodes[0].address
        async with AdminClient(bootstrap_controllers=address) as admin:
            with pytest.raises(UnsupportedVersion, match=f"{address} is a controller older"):
                await admin.describe_cluster()
        async with AdminClient(bootstrap_servers=address) as admin:
            with pytest.raises(MismatchedEndpointType, match="is a controller, not a broker"):
                await admin.describe_metadata_quorum()


async def test_a_broker_older_than_kip_919_is_no_controller_and_serves_as_a_broker() -> None:
    async with scripted_quorum(1) as one:
        one.nodes[0].scripts[ApiVersionsRequest] = lambda request: api_versions(
            DescribeCluster=(0, 0), DescribeQuorum=(0, 1)
        )
        address = one.nodes[0].address
        async with AdminClient(bootstrap_controllers=address) as admin:
            with pytest.raises(MismatchedEndpointType, match="is a broker, not a controller"):
                await admin.describe_cluster()
        async with AdminClient(bootstrap_servers=address) as admin:
            assert await epoch(admin) == LEADER_EPOCH


async def test_a_cluster_too_old_to_register_controllers_says_so_itself() -> None:
    answer = DescribeClusterResponse(error_code=115, error_message="too old")
    async with scripted_quorum(1) as one:
        one.nodes[0].scripts[DescribeClusterRequest] = lambda request: answer
        async with client(one) as admin:
            with pytest.raises(BrokerError, match="UNSUPPORTED_ENDPOINT_TYPE: too old"):
                await admin.describe_cluster()


@in_virtual_time
async def test_a_retriable_error_is_asked_again_and_another_is_not() -> None:
    async with scripted_quorum(1) as one:
        codes = [14, 0, 31]  # COORDINATOR_LOAD_IN_PROGRESS, NONE, CLUSTER_AUTHORIZATION_FAILED
        one.nodes[0].scripts[DescribeQuorumRequest] = lambda request: DescribeQuorumResponse(
            error_code=codes.pop(0), topics=quorum_answer().topics
        )
        async with AdminClient(bootstrap_servers=one.nodes[0].address) as admin:
            assert await epoch(admin) == LEADER_EPOCH
            with pytest.raises(BrokerError, match="CLUSTER_AUTHORIZATION_FAILED"):
                await admin.describe_metadata_quorum()
        assert codes == []


@in_virtual_time
async def test_a_broker_that_finds_no_leader_is_not_waited_for_longer_than_asked() -> None:
    async with scripted_quorum(1) as one:
        one.nodes[0].scripts[DescribeQuorumRequest] = lambda request: SILENCE
        async with AdminClient(bootstrap_servers=one.nodes[0].address, timeout=0.5) as admin:
            with pytest.raises(AnswerLost, match=r"did not answer DescribeQuorum.*controllers"):
                await admin.describe_metadata_quorum()


async def test_a_connection_that_went_away_meanwhile_is_opened_again() -> None:
    async with scripted_quorum(1) as one, client(one) as admin:
        await epoch(admin)
        await one.nodes[0].stop()
        await one.nodes[0].start()
        assert await epoch(admin) == LEADER_EPOCH


@in_virtual_time
async def test_nodes_that_no_time_is_left_for_do_not_hide_the_reason() -> None:
    async with scripted_quorum(3) as three:
        for node in three.nodes:
            node.scripts[DescribeQuorumRequest] = lambda request: SILENCE
        admin = AdminClient(
            bootstrap_controllers=three.addresses(), timeout=0.4, request_timeout=0.2
        )
        async with admin:
            with pytest.raises(AnswerLost, match="did not answer DescribeQuorum"):
                await epoch(admin)
        assert sum(three.asked()) == 2


@in_virtual_time
async def test_a_node_that_is_silent_once_is_asked_again_while_time_remains() -> None:
    async with scripted_quorum(1) as one:
        answers: list[Response | Raw] = [SILENCE, SILENCE]
        offered = api_versions(DescribeClusterRequest, DescribeQuorumRequest)
        one.nodes[0].scripts[ApiVersionsRequest] = lambda request: (
            answers.pop() if answers else offered
        )
        async with AdminClient(bootstrap_controllers=one.addresses(), request_timeout=2) as admin:
            assert await epoch(admin) == LEADER_EPOCH
        assert len(one.nodes[0].requests(ApiVersionsRequest)) == 3


@in_virtual_time
async def test_that_nobody_leads_is_told_before_the_time_for_slow_answers_is_over() -> None:
    async with scripted_quorum(3) as three:
        three.leading = -1
        async with AdminClient(bootstrap_controllers=three.addresses(), timeout=60) as admin:
            begin = time.monotonic()
            with pytest.raises(NoReachableLeader, match="they may be electing one"):
                await epoch(admin)
            assert 10 < time.monotonic() - begin < 13


@in_virtual_time
async def test_silent_nodes_cost_no_more_time_than_one() -> None:
    """Several that accept and never answer stand before the leader in the list."""
    async with scripted_quorum(4) as four:
        four.active = four.leading = 3
        for silent in four.nodes[:3]:
            silent.scripts[ApiVersionsRequest] = lambda request: SILENCE
        async with client(four, 0, 1, 2, 3) as admin:
            begin = time.monotonic()
            assert await epoch(admin) == LEADER_EPOCH
            assert time.monotonic() - begin < 2.0  # one of them alone takes the connect timeout


@in_virtual_time
async def test_a_change_is_not_sent_to_a_second_node_beside_a_silent_one() -> None:
    async with scripted_quorum(2) as two:
        two.active = two.leading = 0
        two.nodes[0].scripts[RemoveRaftVoterRequest] = lambda request: SILENCE
        two.nodes[1].scripts[RemoveRaftVoterRequest] = lambda request: HANG_UP
        async with client(two, timeout=1.0) as admin:
            with pytest.raises(AnswerLost):
                await admin.remove_raft_voter(0, UUID(int=1))
        assert two.nodes[1].requests(RemoveRaftVoterRequest) == []


@in_virtual_time
async def test_a_change_whose_answer_makes_no_sense_is_not_sent_to_a_second_node() -> None:
    """It may have been carried out."""

    def cut_short(request: RequestFrame) -> Raw:
        return Raw(data=b"\0\0\0\4" + request.header.correlation_id.to_bytes(4, "big"))

    async with scripted_quorum(2) as two:
        two.nodes[0].scripts[RemoveRaftVoterRequest] = cut_short
        two.nodes[1].scripts[RemoveRaftVoterRequest] = lambda request: HANG_UP
        async with client(two, timeout=1.0) as admin:
            with pytest.raises(DecodeError):
                await admin.remove_raft_voter(0, UUID(int=1))
        assert [len(node.requests(RemoveRaftVoterRequest)) for node in two.nodes] == [1, 0]


@in_virtual_time
async def test_a_node_of_the_wrong_kind_ends_an_operation_at_once() -> None:
    async with scripted_quorum(1) as one:
        one.nodes[0].scripts[DescribeClusterRequest] = lambda request: DescribeClusterResponse(
            error_code=114
        )
        async with client(one) as admin:
            begin = time.monotonic()
            with pytest.raises(MismatchedEndpointType):
                await admin.describe_metadata_quorum()
            assert time.monotonic() - begin < 0.1
        assert len(one.nodes[0].requests(DescribeClusterRequest)) == 1


def test_a_sentence_names_a_few_of_many_nodes() -> None:
    failures = Failures(Bootstrap.of(None, "a:1"))
    for port in range(1, 2001):
        failures.add(Address("a", port), ConnectionFailed(f"a:{port} is gone"))
    text = str(failures.unreachable())
    assert text.endswith("a:8 is gone; and 1992 more")
