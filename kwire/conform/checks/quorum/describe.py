"""DescribeQuorum in its versions (KIP-595, KIP-642, KIP-853)."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from kwire.conform.check import CheckSection, family, in_each_version
from kwire.conform.expectation import answers, expect, expect_equal, expect_error
from kwire.conform.quorum import NO_DIRECTORY, describe_quorum, leader_exchange
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, ServerRole, kafka, kip, schema
from kwire.error_codes import ErrorCode
from kwire.messages.a55_describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    PartitionData,
    TopicData,
)
from kwire.messages.metadata_topic import METADATA_TOPIC
from kwire.net.quorum_request import quorum_request

SECTION = CheckSection("quorum/kip-853/describe", "DescribeQuorum in its versions")

_SHOWN = kip(853, "DescribeQuorum, Handling")
_PAUSE = 0.2
_DAY_MS = 86_400_000


def _of(topic: str, partition: int = 0) -> DescribeQuorumRequest:
    partitions = [PartitionData(partition_index=partition)]
    return DescribeQuorumRequest(topics=[TopicData(topic_name=topic, partitions=partitions)])


def _error_texts(response: DescribeQuorumResponse) -> str:
    partitions = [partition for topic in response.topics for partition in topic.partitions]
    texts = (response.error_message, *(partition.error_message for partition in partitions))
    return ", ".join(f"message {text!r}" for text in texts if text is not None)


def _topics(response: DescribeQuorumResponse) -> str:
    return ", ".join(f"topic {topic.topic_name!r}" for topic in response.topics)


def _other_partitions(response: DescribeQuorumResponse) -> str:
    indexes = [part.partition_index for topic in response.topics for part in topic.partitions]
    return ", ".join(f"partition {index}" for index in indexes if index != 1)


@in_each_version(DescribeQuorumRequest)
async def _versions(server: Server, version: int) -> None:
    connection = await server.active_controller()
    answer = await connection.ask(quorum_request(), version)
    expect_error(answer, ErrorCode.NONE)
    [topic] = answer.topics
    expect_equal("topic", topic.topic_name, METADATA_TOPIC)
    [partition] = topic.partitions
    voters = [voter.replica_id for voter in partition.current_voters]
    expect(partition.leader_id in voters, "a leader among the voters", partition.leader_id)


SECTION[1] = family(
    "The metadata quorum is described in every version, its leader among the voters.",
    kip(595, "DescribeQuorum"),
    _versions,
)


@SECTION.check(2, kip(595, "DescribeQuorum"))
async def _(server: Server) -> None:
    """No voter's log ends above the leader's."""
    quorum = await describe_quorum(server)
    end = quorum.voters[quorum.leader_id].log_end_offset
    expect(quorum.partition.high_watermark <= end, "a high watermark up to the end", end)
    beyond = [v.replica_id for v in quorum.voters.values() if v.log_end_offset > end]
    expect_equal("voters beyond the leader", beyond, [])


@SECTION.check(3, kip(595, "High watermark"))
async def _(server: Server) -> None:
    """The high watermark never goes down under one leader."""
    before = await describe_quorum(server)
    after = await describe_quorum(server)
    if (before.epoch, before.leader_id) == (after.epoch, after.leader_id):
        came = after.partition.high_watermark
        expect(came >= before.partition.high_watermark, "at least the one before", came)


@SECTION.check(4, kip(836, "Proposed Changes"))
async def _(server: Server) -> None:
    """From v1 on the leader's own last fetch and catch-up are the time of the answer."""
    connection = await server.active_controller()
    connection.demand(DescribeQuorumRequest, 1)
    answers = []
    for pause in (0.0, _PAUSE):
        await asyncio.sleep(pause)
        quorum = await describe_quorum(server)
        leader = quorum.voters[quorum.leader_id]
        answers.append((leader.last_fetch_timestamp, leader.last_caught_up_timestamp))
    now = time.time() * 1000
    for earlier, later in zip(*answers, strict=True):
        expect(abs(now - later) < _DAY_MS, "a time of today", later)
        expect(later > earlier, f"a later time than {earlier} {_PAUSE} s later", later)


@SECTION.check(5, _SHOWN)
async def _(server: Server) -> None:
    """At kraft.version 1 each voter has a directory id of its own."""
    quorum = await describe_quorum(server)
    quorum.connection.demand(DescribeQuorumRequest, 2)
    await quorum.demand_kraft_version(1)
    ids = [voter.replica_directory_id for voter in quorum.voters.values()]
    expect(NO_DIRECTORY not in ids, "a directory id for each voter", ids)
    expect_equal("different directory ids", len(set(ids)), len(ids))


@SECTION.check(6, _SHOWN)
async def _(server: Server) -> None:
    """Each voter has its listeners among the nodes, with a name and a port."""
    quorum = await describe_quorum(server)
    quorum.connection.demand(DescribeQuorumRequest, 2)
    expect_equal("nodes", sorted(quorum.listeners), sorted(quorum.voters))
    for node_id, listeners in quorum.listeners.items():
        usable = [item for item in listeners if item.name and item.host and item.port]
        expect(usable and usable == listeners, f"usable listeners of {node_id}", listeners)


SECTION[7] = leader_exchange(
    "A topic without a quorum gets",
    kip(595, "DescribeQuorum"),
    send=lambda quorum: _of("kwire-conform-topic"),
    expect=answers(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    role=ServerRole.ANY,
)
SECTION[8] = leader_exchange(
    "Another partition of the metadata log gets",
    kip(595, "DescribeQuorum"),
    send=lambda quorum: _of(METADATA_TOPIC, 1),
    expect=answers(
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, text="for partition 1", lacks=_other_partitions
    ),
    role=ServerRole.ANY,
)
SECTION[9] = leader_exchange(
    "Error messages are null where there is no error.",
    schema("DescribeQuorumResponse", "ErrorMessage"),
    send=lambda quorum: quorum_request(),
    version=2,
    expect=answers(text="without error messages", lacks=_error_texts),
)


@SECTION.refuses(
    10,
    kip(595, "DescribeQuorum"),
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    role=ServerRole.CONTROLLER,
    needs=Need.TWO_VOTERS,
)
async def _(server: Server) -> Any:
    """A controller that does not lead answers"""
    quorum = await describe_quorum(server)
    return await (await server.node(quorum.follower_id)).ask(quorum_request())


SECTION[11] = leader_exchange(
    "DescribeQuorum of no topic is answered, and describes nothing.",
    kafka("KafkaRaftClient.handleDescribeQuorumRequest"),
    send=lambda quorum: DescribeQuorumRequest(),
    expect=answers(text="without topics", lacks=_topics),
)
