"""Records are deleted and leaders elected partition by partition, each with its own outcome."""

from functools import partial

import pytest

from kwire.admin import AdminClient
from kwire.admin.partition_options import ElectionType
from kwire.admin.partitions import HIGH_WATERMARK, ElectionOutcome
from kwire.admin.topic_partition import TopicPartition
from kwire.codec.declaration import Response
from kwire.errors import BrokerError, UnsupportedVersion
from kwire.messages import a21_delete_records as deletion
from kwire.messages import a43_elect_leaders as election
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.net.frames import RequestFrame
from scripted_node import api_versions
from tests.support.admin.scripted_brokers import ScriptedBrokers, scripted_brokers

A0, A1, B0 = (TopicPartition.parse(text) for text in ("a-0", "a-1", "b-0"))
OUT_OF_RANGE, NOT_NEEDED, NOBODY_LEADS, NOT_CONTROLLER = 1, 84, 83, 41


def client(brokers: ScriptedBrokers) -> AdminClient:
    return AdminClient(bootstrap_servers=brokers.addresses, timeout=60)


def deleted(codes: dict[TopicPartition, int], request: RequestFrame) -> Response:
    """Answer with the offsets that were asked for as the first ones; 100 is the high watermark."""
    assert isinstance(request.body, deletion.DeleteRecordsRequest)
    return deletion.DeleteRecordsResponse(
        topics=[
            deletion.DeleteRecordsTopicResult(
                name=topic.name,
                partitions=[
                    deletion.DeleteRecordsPartitionResult(
                        partition_index=part.partition_index,
                        low_watermark=100 if part.offset == HIGH_WATERMARK else part.offset,
                        error_code=codes.get(TopicPartition(topic.name, part.partition_index), 0),
                    )
                    for part in topic.partitions
                ],
            )
            for topic in request.body.topics
        ]
    )


async def test_every_leader_deletes_its_records() -> None:
    async with scripted_brokers(2) as two:
        two.leaders = {("a", 0): 0, ("a", 1): 1, ("b", 0): 1}
        for node in two.nodes:
            node.scripts[deletion.DeleteRecordsRequest] = partial(deleted, {B0: OUT_OF_RANGE})
        async with client(two) as admin:
            outcomes = await admin.delete_records({A0: 7, A1: HIGH_WATERMARK, B0: 10**6})
        assert dict(outcomes) == {A0: 7, A1: 100}
        assert str(outcomes.failed[B0]).startswith("OFFSET_OUT_OF_RANGE: ")
        (first,) = two.nodes[0].requests(deletion.DeleteRecordsRequest)
        assert isinstance(first, deletion.DeleteRecordsRequest)
        assert [topic.name for topic in first.topics] == ["a"]


def elected(codes: dict[TopicPartition, int], request: RequestFrame) -> Response:
    return election.ElectLeadersResponse(
        replica_election_results=[
            election.ReplicaElectionResult(
                topic=key.topic,
                partition_result=[
                    election.PartitionResult(
                        partition_id=key.partition, error_code=code, error_message=None
                    )
                ],
            )
            for key, code in codes.items()
        ]
    )


def requests(brokers: ScriptedBrokers) -> list[election.ElectLeadersRequest]:
    frames = [frame for node in brokers.nodes for frame in node.asked]
    bodies = [frame.body for frame in frames]
    return [body for body in bodies if isinstance(body, election.ElectLeadersRequest)]


async def test_a_leader_that_is_the_preferred_one_already_is_no_failure() -> None:
    async with scripted_brokers(1) as one:
        codes = {A0: 0, A1: NOT_NEEDED, B0: NOBODY_LEADS}
        one.nodes[0].scripts[election.ElectLeadersRequest] = partial(elected, codes)
        async with client(one) as admin:
            outcomes = await admin.elect_leaders([A0, A1, B0], election_type=ElectionType.UNCLEAN)
        assert dict(outcomes) == {A0: ElectionOutcome.ELECTED, A1: ElectionOutcome.NOT_NEEDED}
        assert (
            str(outcomes.failed[B0])
            == "ELIGIBLE_LEADERS_NOT_AVAILABLE: no replica that may lead is there"
        )
        (request,) = requests(one)
        assert request.election_type == ElectionType.UNCLEAN
        assert request.topic_partitions == [
            election.TopicPartitions(topic="a", partitions=(0, 1)),
            election.TopicPartitions(topic="b", partitions=(0,)),
        ]


async def test_leaders_of_all_partitions_are_elected_by_one_request_without_names() -> None:
    async with scripted_brokers(1) as one:
        one.nodes[0].scripts[election.ElectLeadersRequest] = partial(elected, {B0: 0})
        async with client(one) as admin:
            assert dict(await admin.elect_leaders()) == {B0: ElectionOutcome.ELECTED}
        (request,) = requests(one)
        assert request.topic_partitions is None


async def test_what_the_controller_refuses_whole_is_raised() -> None:
    async with scripted_brokers(1) as one:
        refused = election.ElectLeadersResponse(error_code=31)
        one.nodes[0].scripts[election.ElectLeadersRequest] = lambda request: refused
        async with client(one) as admin:
            with pytest.raises(BrokerError, match="CLUSTER_AUTHORIZATION_FAILED"):
                await admin.elect_leaders()
            outcomes = await admin.elect_leaders([A0])
            assert [str(error) for error in outcomes.failed.values()] == [
                "CLUSTER_AUTHORIZATION_FAILED: the client has no right to this on the cluster"
            ]


async def test_an_unclean_election_is_not_sent_to_nodes_that_would_hold_a_preferred_one() -> None:
    async with scripted_brokers(1) as one:
        old = api_versions(*one.nodes[0].scripts, ElectLeaders=(0, 0))
        one.nodes[0].scripts[ApiVersionsRequest] = lambda request: old
        one.nodes[0].scripts[election.ElectLeadersRequest] = partial(elected, {A0: 0})
        async with client(one) as admin:
            with pytest.raises(UnsupportedVersion, match="cannot hold unclean elections"):
                await admin.elect_leaders([A0], election_type=ElectionType.UNCLEAN)
            assert not requests(one)
            assert A0 in await admin.elect_leaders([A0])
