"""Topics: the requests that are sent, the pages that come back, and what Kafka itself says."""

import re
from typing import cast
from uuid import UUID

from kwire.admin import AdminClient
from kwire.admin.topic_descriptions import PartitionDescription
from kwire.admin.topics import NewTopic, TopicGrowth
from kwire.codec.declaration import Request, Response
from kwire.errors import UnsupportedVersion
from kwire.messages import a03_metadata as metadata
from kwire.messages import a19_create_topics as creation
from kwire.messages import a20_delete_topics as deletion
from kwire.messages import a37_create_partitions as growth
from kwire.messages import a75_describe_topic_partitions as pages
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.net.frames import RequestFrame
from real_kafka import Cluster
from scripted_node import api_versions
from tests.support.admin.scripted_brokers import ScriptedBrokers, scripted_brokers
from tests.support.eventually import eventually
from tests.support.virtual_time import in_virtual_time

TOPIC_ID = UUID(int=7)
PATIENCE = 60.0


def only(brokers: ScriptedBrokers, request: type[Request]) -> Request:
    """Return the one request of an API that all brokers got together."""
    (body,) = [body for node in brokers.nodes for body in node.requests(request)]
    return body


async def test_a_topic_without_numbers_is_left_to_the_brokers_defaults() -> None:
    async with scripted_brokers(1) as one:
        one.nodes[0].scripts[creation.CreateTopicsRequest] = lambda request: (
            creation.CreateTopicsResponse(
                topics=[
                    creation.CreatableTopicResult(name="t", topic_id=TOPIC_ID, num_partitions=6)
                ]
            )
        )
        async with AdminClient(one.addresses) as admin:
            outcomes = await admin.create_topics([NewTopic(name="t", configs={"a": "1"})])
        request = cast(creation.CreateTopicsRequest, only(one, creation.CreateTopicsRequest))
        (topic,) = request.topics
        assert (topic.num_partitions, topic.replication_factor) == (-1, -1)
        assert [(config.name, config.value) for config in topic.configs] == [("a", "1")]
        assert 0 < request.timeout_ms < 60_000
        assert outcomes["t"].topic_id == TOPIC_ID
        assert (outcomes["t"].partitions, outcomes["t"].replication_factor) == (6, None)


async def test_an_assignment_takes_the_place_of_both_numbers() -> None:
    async with scripted_brokers(1) as one:
        one.nodes[0].scripts[creation.CreateTopicsRequest] = lambda request: (
            creation.CreateTopicsResponse(topics=[creation.CreatableTopicResult(name="t")])
        )
        async with AdminClient(one.addresses) as admin:
            await admin.create_topics(
                [NewTopic(name="t", partitions=9, assignments=[[1, 2], [2, 3]])], validate_only=True
            )
        request = cast(creation.CreateTopicsRequest, only(one, creation.CreateTopicsRequest))
        (topic,) = request.topics
        assert (topic.num_partitions, topic.replication_factor) == (-1, -1)
        assert [partition.broker_ids for partition in topic.assignments] == [(1, 2), (2, 3)]
        assert request.validate_only


def deleted(request: RequestFrame) -> Response:
    """Answer with name and id of each topic, as Kafka does."""
    topics = cast(deletion.DeleteTopicsRequest, request.body).topics
    return deletion.DeleteTopicsResponse(
        responses=[
            deletion.DeletableTopicResult(name=topic.name or "by-id", topic_id=topic.topic_id)
            for topic in topics
        ]
    )


async def test_topics_are_deleted_by_name_and_by_id() -> None:
    async with scripted_brokers(1) as one:
        one.nodes[0].scripts[deletion.DeleteTopicsRequest] = deleted
        async with AdminClient(one.addresses) as admin:
            outcomes = await admin.delete_topics(["t", TOPIC_ID])
        assert dict(outcomes) == {"t": None, TOPIC_ID: None}


async def test_an_old_node_deletes_by_name_only() -> None:
    async with scripted_brokers(1) as one:
        node = one.nodes[0]
        node.scripts[deletion.DeleteTopicsRequest] = lambda request: deletion.DeleteTopicsResponse(
            responses=[deletion.DeletableTopicResult(name="t")]
        )
        node.scripts[ApiVersionsRequest] = lambda request: api_versions(
            DescribeClusterRequest, DeleteTopics=(0, 5)
        )
        async with AdminClient(one.addresses) as admin:
            assert dict(await admin.delete_topics(["t"])) == {"t": None}
            request = cast(deletion.DeleteTopicsRequest, only(one, deletion.DeleteTopicsRequest))
            assert request.topic_names == ("t",)
            error = None
            try:
                await admin.delete_topics([TOPIC_ID])
            except UnsupportedVersion as raised:
                error = str(raised)
        assert error == "the node deletes topics by name only: it is older than Kafka 2.8"


def page(request: RequestFrame) -> Response:
    """Give one partition a page, of topics `a` with two partitions and `b` with one."""
    body = cast(pages.DescribeTopicPartitionsRequest, request.body)
    places = [("a", 0), ("a", 1), ("b", 0)]
    cursor = body.cursor
    at = places.index((cursor.topic_name, cursor.partition_index)) if cursor else 0
    (name, number), rest = places[at], places[at + 1 :]
    partition = pages.DescribeTopicPartitionsResponsePartition(
        partition_index=number,
        leader_id=-1 if name == "b" else 1,
        leader_epoch=4,
        replica_nodes=(1, 2),
        isr_nodes=(1,),
        eligible_leader_replicas=(2,),
    )
    topic = pages.DescribeTopicPartitionsResponseTopic(
        name=name, topic_id=TOPIC_ID, partitions=[partition]
    )
    following = pages.Cursor(topic_name=rest[0][0], partition_index=rest[0][1]) if rest else None
    return pages.DescribeTopicPartitionsResponse(topics=[topic], next_cursor=following)


async def test_pages_of_partitions_are_put_together() -> None:
    async with scripted_brokers(1) as one:
        one.nodes[0].scripts[pages.DescribeTopicPartitionsRequest] = page
        async with AdminClient(one.addresses) as admin:
            outcomes = await admin.describe_topics(["b", "a"])
        assert [partition.partition for partition in outcomes["a"].partitions] == [0, 1]
        assert outcomes["b"].partitions == (
            PartitionDescription(
                partition=0,
                leader_id=None,
                leader_epoch=4,
                replicas=(1, 2),
                isr=(1,),
                elr=(2,),
            ),
        )
        asked = one.nodes[0].requests(pages.DescribeTopicPartitionsRequest)
        names = [
            [topic.name for topic in cast(pages.DescribeTopicPartitionsRequest, body).topics]
            for body in asked
        ]
        assert names == [["a", "b"], ["a", "b"], ["b"]]


@in_virtual_time
async def test_a_node_that_always_has_another_page_does_not_hold_the_client() -> None:
    def endless(request: RequestFrame) -> Response:
        cursor = pages.Cursor(topic_name="a", partition_index=0)
        return pages.DescribeTopicPartitionsResponse(next_cursor=cursor)

    async with scripted_brokers(1) as one:
        one.nodes[0].scripts[pages.DescribeTopicPartitionsRequest] = endless
        async with AdminClient(one.addresses, timeout=0.3) as admin:
            failed: Exception | None = None
            try:
                failed = (await admin.describe_topics(["a"])).failed["a"]
            except Exception as error:
                failed = error
        assert "did not" in str(failed)


async def test_a_broker_without_pages_is_asked_for_metadata() -> None:
    async with scripted_brokers(1) as one:
        one.leaders = {("t", 0): 0, ("t", 1): 0}
        async with AdminClient(one.addresses) as admin:
            outcomes = await admin.describe_topics(["t", "nowhere"])
        assert [partition.partition for partition in outcomes["t"].partitions] == [0, 1]
        assert outcomes["t"].partitions[0].elr is None
        assert (
            str(outcomes.failed["nowhere"])
            == "UNKNOWN_TOPIC_OR_PARTITION: there is no such topic or partition"
        )
        request = cast(metadata.MetadataRequest, only(one, metadata.MetadataRequest))
        assert not request.allow_auto_topic_creation


async def test_growth_names_the_new_number_and_the_replicas_of_the_new_partitions() -> None:
    async with scripted_brokers(1) as one:
        one.nodes[0].scripts[growth.CreatePartitionsRequest] = lambda request: (
            growth.CreatePartitionsResponse(
                results=[growth.CreatePartitionsTopicResult(name="t", error_code=37)]
            )
        )
        async with AdminClient(one.addresses) as admin:
            outcomes = await admin.create_partitions(
                {"t": TopicGrowth(partitions=2, assignments=[[1]])}
            )
        assert (
            str(outcomes.failed["t"])
            == "INVALID_PARTITIONS: the number of partitions cannot be this"
        )
        request = cast(growth.CreatePartitionsRequest, only(one, growth.CreatePartitionsRequest))
        (topic,) = request.topics
        assert topic.count == 2
        assert topic.assignments is not None
        assert [assignment.broker_ids for assignment in topic.assignments] == [(1,)]


TOOL = "org.apache.kafka.tools.TopicCommand"


async def test_brokers_the_metadata_log_and_kafkas_tool_describe_the_same(quorum: Cluster) -> None:
    name = "topics-described-thrice"
    async with (
        AdminClient(quorum.bootstrap_servers, timeout=PATIENCE) as brokers,
        AdminClient(
            bootstrap_controllers=quorum.bootstrap_controllers, timeout=PATIENCE
        ) as controllers,
    ):
        (await brokers.create_topics([NewTopic(name=name, partitions=3)])).all()
        try:
            ours = await eventually(
                lambda: brokers.describe_topics([name]),
                lambda outcomes: (
                    name in outcomes
                    and all(partition.leader_id for partition in outcomes[name].partitions)
                ),
            )
            assert dict(await controllers.describe_topics([name])) == dict(ours)
            listed = await controllers.list_topics()
            assert listed == await brokers.list_topics()
            arguments = (
                "--bootstrap-server",
                quorum.bootstrap_servers,
                "--describe",
                "--topic",
                name,
            )
            told = quorum.tool(TOOL, *arguments).stdout
            theirs = re.findall(
                r"Partition: (\d+)\tLeader: (\d+)\tReplicas: ([\d,]+)\tIsr: ([\d,]+)", told
            )
            assert theirs == [
                (
                    str(partition.partition),
                    str(partition.leader_id),
                    ",".join(map(str, partition.replicas)),
                    ",".join(map(str, partition.isr)),
                )
                for partition in ours[name].partitions
            ]
        finally:
            (await brokers.delete_topics([name])).all()
