"""ConsumerGroupHeartbeat: groups whose coordinator assigns (KIP-848)."""

from __future__ import annotations

from functools import partial
from typing import Any

from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.groups.committed import new_offsets
from kwire.conform.checks.groups.consumer import (
    LEAVES_FOR_A_WHILE,
    describe_consumers,
    new_consumer,
)
from kwire.conform.checks.groups.heartbeat_checks import (
    leaving_member,
    listed_type,
    refused_heartbeat,
    refused_join,
)
from kwire.conform.checks.groups.member import new_member, stable_member
from kwire.conform.expectation import expect, expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import guide, kafka, kip, schema
from kwire.error_codes import ErrorCode
from kwire.messages.a08_offset_commit import OffsetCommitRequest
from kwire.messages.a68_consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from kwire.messages.a69_consumer_group_describe import ConsumerGroupDescribeRequest

SECTION = CheckSection("groups/kip-848", "Consumer groups, whose coordinator assigns")

_HEARTBEAT = kip(848, "ConsumerGroupHeartbeat API")
_DESCRIBE = kip(848, "ConsumerGroupDescribe API")
_CLIENTS_ID = schema("ConsumerGroupHeartbeatRequest", "version 1")
_OWN_ID = 1
"""The first version in which a member brings its own id, and may subscribe by a pattern."""
_WITH_EPOCH = 9
"""The first version of OffsetCommit with the epoch of a member."""

_refuses = partial(refused_join, new_consumer, _HEARTBEAT)
_refuses_member = partial(refused_heartbeat, new_consumer, _HEARTBEAT)


@SECTION.broker_check(1, _HEARTBEAT)
async def _(server: Server) -> None:
    """A member that joins gets an epoch above 0, an interval and its partitions."""
    member = await new_consumer(server)
    answer = await member.joined()
    expect(answer.member_epoch > 0, "an epoch above 0", answer.member_epoch)
    expect(answer.heartbeat_interval_ms > 0, "an interval", answer.heartbeat_interval_ms)
    await member.owns(1)
    expect_equal("partitions", member.partitions(), [0])


@SECTION.broker_check(2, _HEARTBEAT)
async def _(server: Server) -> None:
    """In v0 a member without an id gets one."""
    member = await new_consumer(server)
    answer = await member.joined(0, member_id="")
    expect(answer.member_id, "a member id", repr(answer.member_id))


@SECTION.broker_refuses(3, _CLIENTS_ID, ErrorCode.INVALID_REQUEST)
async def _(server: Server) -> Any:
    """From v1 on a member without an id gets"""
    member = await new_consumer(server)
    member.connection.demand(ConsumerGroupHeartbeatRequest, _OWN_ID)
    return await member.join(_OWN_ID, member_id="")


@SECTION.broker_check(4, _CLIENTS_ID)
async def _(server: Server) -> None:
    """From v1 on a member keeps the id that it brings."""
    member = await new_consumer(server)
    member.connection.demand(ConsumerGroupHeartbeatRequest, _OWN_ID)
    own = member.member_id
    expect_equal("member id", (await member.joined(_OWN_ID)).member_id, own)


SECTION[5] = _refuses("An empty group id", ErrorCode.INVALID_REQUEST, group_id="")
SECTION[6] = _refuses(
    "A join without a rebalance timeout", ErrorCode.INVALID_REQUEST, rebalance_timeout_ms=-1
)
SECTION[7] = _refuses(
    "A join without topics", ErrorCode.INVALID_REQUEST, subscribed_topic_names=None
)
SECTION[8] = _refuses(
    "A join with partitions of its own",
    ErrorCode.INVALID_REQUEST,
    topic_partitions=[TopicPartitions(partitions=(0,))],
)
SECTION[9] = _refuses(
    "A join with null partitions", ErrorCode.INVALID_REQUEST, topic_partitions=None
)
SECTION[10] = _refuses("An epoch below -2", ErrorCode.INVALID_REQUEST, member_epoch=-3)
SECTION[11] = _refuses("An empty instance id", ErrorCode.INVALID_REQUEST, instance_id="")
SECTION[12] = _refuses("An empty rack id", ErrorCode.INVALID_REQUEST, rack_id="")


@SECTION.broker_refuses(13, _HEARTBEAT, ErrorCode.FENCED_MEMBER_EPOCH)
async def _(server: Server) -> Any:
    """The epoch before gets FENCED_MEMBER_EPOCH if the member owns what it was not given."""
    member = await new_consumer(server)
    await member.joined()
    await member.owns(1)
    if member.epoch == 1:  # the one before would be that of a join
        second = await new_consumer(server, member.group, topics=member.topics)
        await second.joined()
        await server.wait_for("an epoch above 1", member.grows)
    foreign = [TopicPartitions(topic_id=member.assignment[0].topic_id, partitions=(0, 1, 2))]
    return await member.heartbeat(member_epoch=member.epoch - 1, topic_partitions=foreign)


SECTION[14] = _refuses(
    "An assignor that the server does not have",
    ErrorCode.UNSUPPORTED_ASSIGNOR,
    server_assignor="kwire",
)
SECTION[15] = _refuses(
    "Leaving for a while without an instance id",
    ErrorCode.INVALID_REQUEST,
    member_epoch=LEAVES_FOR_A_WHILE,
)
SECTION[16] = _refuses_member(
    "A member that the group does not have", ErrorCode.UNKNOWN_MEMBER_ID, member_id="nobody"
)
SECTION[17] = _refuses_member(
    "An epoch above the member's", ErrorCode.FENCED_MEMBER_EPOCH, member_epoch=7
)


@SECTION.broker_check(18, _HEARTBEAT)
async def _(server: Server) -> None:
    """A member's assignment is sent once: the next answer has none."""
    member = await new_consumer(server)
    await member.joined()
    await member.owns(1)
    await member.beat()
    expect_equal("assignment", (await member.heartbeat()).assignment, None)


@SECTION.broker_check(19, _HEARTBEAT)
async def _(server: Server) -> None:
    """A full heartbeat is answered with the whole assignment."""
    member = await new_consumer(server)
    await member.joined()
    await member.owns(1)
    own: dict[str, Any] = {
        "rebalance_timeout_ms": 10_000,
        "subscribed_topic_names": member.topics,
        "topic_partitions": member.assignment,
    }
    came = (await member.heartbeat(**own)).assignment
    parts = None if came is None else came.topic_partitions
    expect_equal("assignment", parts, member.assignment)


SECTION[20] = leaving_member(new_consumer, _HEARTBEAT)


@SECTION.broker_check(21, _HEARTBEAT)
async def _(server: Server) -> None:
    """A static member that left for a while may come back with another id."""
    first = await new_consumer(server, instance_id="instance-1")
    await first.joined()
    answer = await first.heartbeat(member_epoch=LEAVES_FOR_A_WHILE)
    expect_error(answer, ErrorCode.NONE)
    expect_equal("epoch", answer.member_epoch, LEAVES_FOR_A_WHILE)
    second = await new_consumer(server, first.group, topics=first.topics, instance_id="instance-1")
    expect_error(await second.join(), ErrorCode.NONE)


@SECTION.broker_refuses(22, _HEARTBEAT, ErrorCode.UNRELEASED_INSTANCE_ID)
async def _(server: Server) -> Any:
    """An instance id whose member is still there gets"""
    first = await new_consumer(server, instance_id="instance-1")
    await first.joined()
    second = await new_consumer(server, first.group, topics=first.topics, instance_id="instance-1")
    return await second.join()


@SECTION.broker_check(23, _HEARTBEAT)
async def _(server: Server) -> None:
    """Two members share the partitions once the first gave up its half."""
    topic = await server.topic(2)
    first = await new_consumer(server, topics=(topic,))
    await first.joined()
    await first.owns(2)
    second = await new_consumer(server, first.group, topics=(topic,))
    await second.joined()
    await first.owns(1)
    await first.beat()
    await second.owns(1)
    expect_equal("partitions", sorted(first.partitions() + second.partitions()), [0, 1])


@SECTION.broker_check(24, _HEARTBEAT)
async def _(server: Server) -> None:
    """A partition is not handed on before its owner has given it up."""
    topic = await server.topic(2)
    first = await new_consumer(server, topics=(topic,))
    await first.joined()
    await first.owns(2)
    second = await new_consumer(server, first.group, topics=(topic,))
    await second.joined()
    await first.owns(1)  # told to give one up, of which it has told nothing yet
    await second.beat()
    expect_equal("partitions of the second", second.partitions(), [])


@SECTION.broker_check(25, kip(848, "Regular Expressions"))
async def _(server: Server) -> None:
    """A pattern subscribes to the topics that match."""
    member = await new_consumer(server)
    member.connection.demand(ConsumerGroupHeartbeatRequest, _OWN_ID)
    pattern = f"{member.topics[0][:-1]}[{member.topics[0][-1]}]"
    await member.joined(subscribed_topic_names=None, subscribed_topic_regex=pattern)
    await member.owns(1)


@SECTION.broker_refuses(
    26, schema("ConsumerGroupHeartbeatResponse"), ErrorCode.INVALID_REGULAR_EXPRESSION
)
async def _(server: Server) -> Any:
    """A pattern that is no regular expression gets"""
    member = await new_consumer(server)
    member.connection.demand(ConsumerGroupHeartbeatRequest, _OWN_ID)
    return await member.join(subscribed_topic_regex="(")


@SECTION.broker_refuses(29, _DESCRIBE, ErrorCode.GROUP_ID_NOT_FOUND)
async def _(server: Server) -> Any:
    """ConsumerGroupDescribe of a classic group gets"""
    (await server.connection()).demand(ConsumerGroupDescribeRequest)
    member = await stable_member(server)
    return await describe_consumers(member.connection, member.group)


SECTION[30] = listed_type(new_consumer, kip(848, "ListGroups API"), "consumer")


@SECTION.broker_refuses(31, guide("Error Codes"), ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
async def _(server: Server) -> Any:
    """A classic member of a foreign type gets INCONSISTENT_GROUP_PROTOCOL in a consumer group."""
    consumer = await new_consumer(server)
    await consumer.joined()
    member = await new_member(server, consumer.group)
    answer = await member.join()
    if (
        answer.error_code == ErrorCode.MEMBER_ID_REQUIRED
    ):  # the group is looked at when the id comes back
        answer = await member.join()
    return answer


@SECTION.broker_refuses(
    32, kafka("GroupMetadataManager.getOrMaybeCreateConsumerGroup"), ErrorCode.GROUP_ID_NOT_FOUND
)
async def _(server: Server) -> Any:
    """A consumer that joins a classic group of a foreign type gets"""
    consumer = await new_consumer(server)
    await stable_member(server, consumer.group)
    return await consumer.join()


def _refuses_commit(what: str, code: ErrorCode, **fields: Any) -> Any:
    @broker_scenario(
        f"In a consumer group a commit {what} gets {code.name}.", schema("OffsetCommitResponse")
    )
    async def refuses(server: Server) -> None:
        member = await new_consumer(server)
        member.connection.demand(OffsetCommitRequest, _WITH_EPOCH)
        await member.joined()
        offsets = await new_offsets(server, member.group)
        own: dict[str, Any] = {
            "member_id": member.member_id,
            "generation_id_or_member_epoch": member.epoch,
        }
        expect_error(await offsets.commit(5, version=_WITH_EPOCH, **own), ErrorCode.NONE)
        expect_error(await offsets.commit(6, version=_WITH_EPOCH, **(own | fields)), code)

    return refuses


SECTION[33] = _refuses_commit(
    "with another epoch", ErrorCode.STALE_MEMBER_EPOCH, generation_id_or_member_epoch=7
)
SECTION[34] = _refuses_commit(
    "by an unknown member", ErrorCode.UNKNOWN_MEMBER_ID, member_id="nobody"
)
