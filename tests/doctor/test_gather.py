"""Gathering over scripted nodes: each answers for itself, and none can hold the others up."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from kwire.admin.controller_state import FollowedLeader
from kwire.doctor.evidence import EndpointOrigin, KnownEndpoint, Unreachable
from kwire.doctor.examine import examine
from kwire.doctor.gather import _Gatherer, gather
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from kwire.messages.a32_describe_configs import (
    DescribeConfigsRequest,
)
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.metadata_topic import METADATA_TOPIC_ID
from kwire.net.address import Address
from kwire.net.awaited import Awaited
from kwire.net.secure_connect import SecureConnect
from kwire.net.security import PLAINTEXT
from kwire.net.timeouts import Timeouts
from scripted_node import HANG_UP, SILENCE, ScriptedNode
from tests.support.doctor.controllers import EPOCH, controllers
from tests.support.virtual_time import in_virtual_time

PATIENCE = 0.4
SHORT = Timeouts(operation=PATIENCE, connect=PATIENCE, request=PATIENCE)


def at(node: ScriptedNode) -> Address:
    """Return the address of a scripted node."""
    return Address.parse(node.address)


@in_virtual_time
async def test_one_address_leads_to_every_controller_and_each_answers_for_itself() -> None:
    async with controllers() as scripted:
        nodes = scripted.quorum.nodes
        evidence = await gather([at(nodes[2])], with_image=False)
    assert sorted(node.node_id or 0 for node in evidence.controllers) == [0, 1, 2]
    assert [node.node_id for node in evidence.leaders] == [0]
    follows = FollowedLeader(leader_id=0, epoch=EPOCH)
    assert all(node.follows == follows for node in evidence.controllers)
    assert all(not node.refusals for node in evidence.controllers)
    assert evidence.fetch_timeout_ms == 1500


@in_virtual_time
async def test_a_follower_of_nobody_is_told_from_a_follower_of_node_0() -> None:
    async with controllers() as scripted:
        scripted.leader_ids = {1: -1}
        evidence = await gather([at(scripted.quorum.nodes[0])], with_image=False)
    (finding,) = (f for f in examine(evidence) if f.id == "quorum/follows-nobody")
    assert finding.sentence == "controller 1 answers, but follows nobody; 0 leads"


@in_virtual_time
async def test_no_secret_is_asked_for_and_each_node_is_dialled_once() -> None:
    async with controllers() as scripted:
        nodes = scripted.quorum.nodes
        await gather([at(node) for node in nodes], with_image=False)
        asked = [frame.body for node in nodes for frame in node.asked]
    keys = {
        key
        for request in asked
        if isinstance(request, DescribeConfigsRequest)
        for resource in request.resources
        for key in resource.configuration_keys or ()
    }
    assert keys
    assert not [key for key in keys if "password" in key or "jaas" in key]
    assert scripted.quorum.asked() == [1, 1, 1]


@in_virtual_time
async def test_a_silent_node_costs_one_attempt_and_the_others_are_heard() -> None:
    async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(swallow, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    clock = asyncio.get_running_loop().time
    async with controllers() as scripted, server:
        dead = Address("127.0.0.1", port)
        began = clock()
        evidence = await gather(
            [dead, at(scripted.quorum.nodes[1])], with_image=False, timeouts=SHORT
        )
        seconds = clock() - began
    silent = evidence.at(dead)
    assert silent is not None
    assert silent.unreachable is Unreachable.SILENT
    assert len(evidence.controllers) == 3
    assert seconds < 4 * PATIENCE


@in_virtual_time
async def test_whom_it_waits_for_is_told_after_a_moment() -> None:
    awaited = Awaited()
    async with controllers(3) as scripted:
        stopped = scripted.quorum.nodes[1]
        stopped.scripts[FetchRequest] = lambda _: SILENCE
        addresses = [at(node) for node in scripted.quorum.nodes]
        gathering = asyncio.ensure_future(gather(addresses, with_image=False, awaited=awaited))
        await asyncio.sleep(5)
        assert awaited.text(3.0) == stopped.address
        assert awaited.text(9.0) == ""
        await gathering
    assert awaited.text() == ""


@in_virtual_time
async def test_a_node_that_is_silent_about_one_thing_tells_the_rest() -> None:
    async with controllers(1) as scripted:
        (node,) = scripted.quorum.nodes
        node.scripts[FetchRequest] = lambda _: SILENCE
        evidence = await gather([at(node)], with_image=False, timeouts=SHORT)
    (answers,) = evidence.controllers
    assert answers.quorum is not None
    assert set(answers.refusals) == {"Fetch"}
    assert "did not answer Fetch" in answers.refusals["Fetch"]


@in_virtual_time
async def test_an_error_without_a_leader_is_a_refusal_and_no_follower_of_nobody() -> None:
    """CurrentLeader is a tagged field (FetchResponse.json): it may be left out."""
    partition = PartitionData(error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    topic = FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[partition])
    async with controllers(1) as scripted:
        (node,) = scripted.quorum.nodes
        node.scripts[FetchRequest] = lambda _: FetchResponse(responses=[topic])
        evidence = await gather([at(node)], with_image=False, timeouts=SHORT)
    (answers,) = evidence.controllers
    assert answers.follows is None
    reason = "TOPIC_AUTHORIZATION_FAILED: the client has no right to the topic"
    assert answers.refusals == {"Fetch": reason}


@in_virtual_time
async def test_a_node_that_hangs_up_is_no_crash() -> None:
    async with controllers(1) as scripted:
        (node,) = scripted.quorum.nodes
        for request in (DescribeClusterRequest, DescribeQuorumRequest, DescribeConfigsRequest):
            node.scripts[request] = lambda _: HANG_UP
        evidence = await gather([at(node)], with_image=False, timeouts=SHORT)
    (answers,) = evidence.controllers
    assert {"DescribeCluster", "DescribeQuorum", "DescribeConfigs"} <= set(answers.refusals)
    assert answers.node_id is None


async def test_a_port_where_nobody_listens_is_refused_at_once() -> None:
    async with ScriptedNode() as node:
        gone = at(node)
    evidence = await gather([gone])
    (silent,) = evidence.nodes
    assert silent.unreachable is Unreachable.REFUSED
    assert evidence.no_image == "no controller that leads was reached"


@in_virtual_time
async def test_the_log_of_a_leader_that_refuses_it_is_missed_not_waited_for() -> None:
    async with controllers(1) as scripted:
        (node,) = scripted.quorum.nodes
        evidence = await gather([at(node)], timeouts=SHORT)
    assert evidence.image is None
    assert evidence.no_image.startswith("no leader gave it within 0.4 s")


@in_virtual_time
async def test_a_peer_may_name_any_number_of_addresses_and_only_some_are_dialled() -> None:
    async with controllers(1) as scripted:
        (node,) = scripted.quorum.nodes
        scripted.configs = {
            "controller.quorum.voters": ",".join(f"{n}@127.0.0.1:1" for n in range(3))
            + "".join(f",{n}@127.0.{n % 250}.{n // 250 + 2}:1" for n in range(1000))
        }
        evidence = await gather([at(node)], with_image=False, timeouts=SHORT)
    assert len(evidence.nodes) == 256


@in_virtual_time
async def test_nonsense_in_a_list_of_voters_is_passed_over() -> None:
    async with controllers(1) as scripted:
        (node,) = scripted.quorum.nodes
        scripted.configs = {"controller.quorum.voters": "x@y:1,1@,@,1@a:b:c,77777777777@h:1,,"}
        evidence = await gather([at(node)], with_image=False, timeouts=SHORT)
    origins = {endpoint.origin for endpoint in evidence.endpoints}
    assert EndpointOrigin.VOTER_SET not in origins


@in_virtual_time
async def test_a_leader_that_does_not_describe_itself_is_known_by_its_quorum() -> None:
    async with controllers(1) as scripted:
        (node,) = scripted.quorum.nodes
        del node.scripts[DescribeConfigsRequest]  # as before Kafka 3.7
        evidence = await gather([at(node)], with_image=False)
    assert [answers.node_id for answers in evidence.controllers] == [0]


@in_virtual_time
async def test_a_listener_with_a_login_is_not_taken_for_a_controller_that_refuses() -> None:
    """It answers ApiVersions before the login, and only the log tells its protocol."""
    async with controllers(1) as scripted, ScriptedNode() as guarded:
        guarded.scripts[VoteRequest] = lambda _: HANG_UP
        gatherer = _Gatherer(SecureConnect(PLAINTEXT, timeouts=SHORT))
        known = KnownEndpoint(address=at(guarded), origin=EndpointOrigin.VOTER_SET, node_id=0)
        await gatherer.dial([known, replace(known, address=at(scripted.quorum.nodes[0]))])
        assert [node.node_id for node in gatherer.evidence().controllers] == [None, 0]
        await gatherer.dial([replace(known, protocol="SASL_SSL")])
    assert [node.node_id for node in gatherer.evidence().controllers] == [0]
    assert "endpoints/other-protocol" in {finding.id for finding in examine(gatherer.evidence())}
