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
from kwire.conform.source import kip
from kwire.messages.a08_offset_commit import OffsetCommitRequest
from kwire.messages.a68_consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from kwire.messages.a69_consumer_group_describe import ConsumerGroupDescribeRequest

_HEARTBEAT = kip(848, "ConsumerGroupHeartbeat API")
_DESCRIBE = kip(848, "ConsumerGroupDescribe API")
_OWN_ID = 1
"""The first version in which a member brings its own id, and may subscribe by a pattern."""
_INVALID_REQUEST = 42
_WITH_EPOCH = 9
"""The first version of OffsetCommit with the epoch of a member."""

_refuses = partial(refused_join, new_consumer, _HEARTBEAT)
_refuses_member = partial(refused_heartbeat, new_consumer, _HEARTBEAT)


@broker_scenario(
    "A member that joins gets an epoch above 0, an interval and its partitions.", _HEARTBEAT
)
async def _joins(server: Server) -> None:
    member = await new_consumer(server)
    answer = await member.joined()
    expect(answer.member_epoch > 0, "an epoch above 0", answer.member_epoch)
    expect(answer.heartbeat_interval_ms > 0, "an interval", answer.heartbeat_interval_ms)
    await member.owns(1)
    expect_equal("partitions", member.partitions(), [0])


@broker_scenario("In v0 a member without an id gets one.", _HEARTBEAT)
async def _gets_id(server: Server) -> None:
    member = await new_consumer(server)
    answer = await member.joined(0, member_id="")
    expect(answer.member_id, "a member id", repr(answer.member_id))


@broker_scenario("From v1 on a member without an id gets INVALID_REQUEST.", kip(1082))
async def _brings_id(server: Server) -> None:
    member = await new_consumer(server)
    member.connection.demand(ConsumerGroupHeartbeatRequest, _OWN_ID)
    expect_error(await member.join(_OWN_ID, member_id=""), 42)


@broker_scenario("From v1 on a member keeps the id that it brings.", kip(1082))
async def _keeps_id(server: Server) -> None:
    member = await new_consumer(server)
    member.connection.demand(ConsumerGroupHeartbeatRequest, _OWN_ID)
    own = member.member_id
    expect_equal("member id", (await member.joined(_OWN_ID)).member_id, own)


@broker_scenario("A member's assignment is sent once: the next answer has none.", _HEARTBEAT)
async def _sent_once(server: Server) -> None:
    member = await new_consumer(server)
    await member.joined()
    await member.owns(1)
    await member.beat()
    expect_equal("assignment", (await member.heartbeat()).assignment, None)


@broker_scenario("A full heartbeat is answered with the whole assignment.", _HEARTBEAT)
async def _sent_whole(server: Server) -> None:
    member = await new_consumer(server)
    await member.joined()
    await member.owns(1)
    own: dict[str, Any] = {
        "rebalance_timeout_ms": 10_000,
        "subscribed_topic_names": member.topics,
        "topic_partitions": member.assignment,
    }
    expect((await member.heartbeat(**own)).assignment, "an assignment", "none")


@broker_scenario(
    "The epoch before gets FENCED_MEMBER_EPOCH if the member owns what it was not given.",
    _HEARTBEAT,
)
async def _previous_epoch(server: Server) -> None:
    member = await new_consumer(server)
    await member.joined()
    await member.owns(1)
    foreign = [TopicPartitions(topic_id=member.assignment[0].topic_id, partitions=(0, 1, 2))]
    answer = await member.heartbeat(member_epoch=member.epoch - 1, topic_partitions=foreign)
    expect_error(answer, 110)


@broker_scenario("A static member that left for a while may come back with another id.", _HEARTBEAT)
async def _comes_back(server: Server) -> None:
    first = await new_consumer(server, instance_id="instance-1")
    await first.joined()
    answer = await first.heartbeat(member_epoch=LEAVES_FOR_A_WHILE)
    expect_error(answer, 0)
    expect_equal("epoch", answer.member_epoch, LEAVES_FOR_A_WHILE)
    second = await new_consumer(server, first.group, topics=first.topics, instance_id="instance-1")
    expect_error(await second.join(), 0)


@broker_scenario(
    "An instance id whose member is still there gets UNRELEASED_INSTANCE_ID.", _HEARTBEAT
)
async def _unreleased(server: Server) -> None:
    first = await new_consumer(server, instance_id="instance-1")
    await first.joined()
    second = await new_consumer(server, first.group, topics=first.topics, instance_id="instance-1")
    expect_error(await second.join(), 111)


@broker_scenario("Two members share the partitions once the first gave up its half.", _HEARTBEAT)
async def _two_members(server: Server) -> None:
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


@broker_scenario("A partition is not handed on before its owner has given it up.", _HEARTBEAT)
async def _not_before(server: Server) -> None:
    first = await new_consumer(server)
    await first.joined()
    await first.owns(1)
    second = await new_consumer(server, first.group, topics=first.topics)
    await second.joined()
    await second.beat()
    expect_equal("partitions", len(first.partitions() + second.partitions()), 1)


@broker_scenario("A pattern subscribes to the topics that match.", kip(848, "Regular Expressions"))
async def _pattern(server: Server) -> None:
    member = await new_consumer(server)
    member.connection.demand(ConsumerGroupHeartbeatRequest, _OWN_ID)
    pattern = f"{member.topics[0][:-1]}[{member.topics[0][-1]}]"
    await member.joined(subscribed_topic_names=None, subscribed_topic_regex=pattern)
    await member.owns(1)


@broker_scenario(
    "A pattern that is no regular expression gets INVALID_REGULAR_EXPRESSION.", kip(848)
)
async def _bad_pattern(server: Server) -> None:
    member = await new_consumer(server)
    member.connection.demand(ConsumerGroupHeartbeatRequest, _OWN_ID)
    expect_error(await member.join(subscribed_topic_regex="("), 128)


@broker_scenario(
    "ConsumerGroupDescribe returns epochs, assignor, members and partitions.", _DESCRIBE
)
async def _described(server: Server) -> None:
    member = await new_consumer(server)
    await member.joined()
    await member.owns(1)
    await member.beat()
    group = await describe_consumers(member.connection, member.group)
    expect_error(group, 0)
    expect_equal("state", group.group_state, "Stable")
    epochs = (group.group_epoch, group.assignment_epoch)
    expect_equal("epochs", epochs, (member.epoch, member.epoch))
    described = [(m.member_id, m.member_epoch, m.subscribed_topic_names) for m in group.members]
    expect_equal("members", described, [(member.member_id, member.epoch, member.topics)])
    parts = [(t.topic_name, t.partitions) for t in group.members[0].assignment.topic_partitions]
    expect_equal("partitions", parts, [(member.topics[0], (0,))])


@broker_scenario("ConsumerGroupDescribe of an unknown group gets GROUP_ID_NOT_FOUND.", _DESCRIBE)
async def _describe_unknown(server: Server) -> None:
    name = server.name()
    coordinator = await server.coordinator(name)
    expect_error(await describe_consumers(coordinator, name), 69)


@broker_scenario("ConsumerGroupDescribe of a classic group gets GROUP_ID_NOT_FOUND.", _DESCRIBE)
async def _describe_classic(server: Server) -> None:
    (await server.connection()).demand(ConsumerGroupDescribeRequest)
    member = await stable_member(server)
    expect_error(await describe_consumers(member.connection, member.group), 69)


@broker_scenario(
    "A classic member of a foreign type gets INCONSISTENT_GROUP_PROTOCOL in a consumer group.",
    kip(848),
)
async def _classic_member(server: Server) -> None:
    consumer = await new_consumer(server)
    await consumer.joined()
    member = await new_member(server, consumer.group)
    answer = await member.join()
    if answer.error_code == 79:  # the group is looked at when the id comes back
        answer = await member.join()
    expect_error(answer, 23)


@broker_scenario(
    "A consumer that joins a classic group of a foreign type gets GROUP_ID_NOT_FOUND.", kip(848)
)
async def _consumer_in_classic(server: Server) -> None:
    consumer = await new_consumer(server)
    await stable_member(server, consumer.group)
    expect_error(await consumer.join(), 69)


def _refuses_commit(what: str, code: int, error: str, **fields: Any) -> Any:
    @broker_scenario(f"In a consumer group a commit {what} gets {error}.", kip(848))
    async def refuses(server: Server) -> None:
        member = await new_consumer(server)
        member.connection.demand(OffsetCommitRequest, _WITH_EPOCH)
        await member.joined()
        offsets = await new_offsets(server, member.group)
        own: dict[str, Any] = {
            "member_id": member.member_id,
            "generation_id_or_member_epoch": member.epoch,
        }
        expect_error(await offsets.commit(5, version=_WITH_EPOCH, **own), 0)
        expect_error(await offsets.commit(6, version=_WITH_EPOCH, **(own | fields)), code)

    return refuses


SECTION = CheckSection(
    "groups/kip-848",
    "Consumer groups, whose coordinator assigns",
    {
        1: _joins,
        2: _gets_id,
        3: _brings_id,
        4: _keeps_id,
        5: _refuses("An empty group id", 42, "INVALID_REQUEST", group_id=""),
        6: _refuses(
            "A join without a rebalance timeout", 42, "INVALID_REQUEST", rebalance_timeout_ms=-1
        ),
        7: _refuses("A join without topics", 42, "INVALID_REQUEST", subscribed_topic_names=None),
        8: _refuses(
            "A join with partitions of its own",
            42,
            "INVALID_REQUEST",
            topic_partitions=[TopicPartitions(partitions=(0,))],
        ),
        9: _refuses("A join with null partitions", 42, "INVALID_REQUEST", topic_partitions=None),
        10: _refuses("An epoch below -2", 42, "INVALID_REQUEST", member_epoch=-3),
        11: _refuses("An empty instance id", 42, "INVALID_REQUEST", instance_id=""),
        12: _refuses("An empty rack id", 42, "INVALID_REQUEST", rack_id=""),
        13: _previous_epoch,
        14: _refuses(
            "An assignor that the server does not have",
            112,
            "UNSUPPORTED_ASSIGNOR",
            server_assignor="kwire",
        ),
        15: _refuses(
            "Leaving for a while without an instance id",
            42,
            "INVALID_REQUEST",
            member_epoch=LEAVES_FOR_A_WHILE,
        ),
        16: _refuses_member(
            "A member that the group does not have", 25, "UNKNOWN_MEMBER_ID", member_id="nobody"
        ),
        17: _refuses_member(
            "An epoch above the member's", 110, "FENCED_MEMBER_EPOCH", member_epoch=7
        ),
        18: _sent_once,
        19: _sent_whole,
        20: leaving_member(new_consumer, _HEARTBEAT),
        21: _comes_back,
        22: _unreleased,
        23: _two_members,
        24: _not_before,
        25: _pattern,
        26: _bad_pattern,
        27: _described,
        28: _describe_unknown,
        29: _describe_classic,
        30: listed_type(new_consumer, kip(848), "consumer"),
        31: _classic_member,
        32: _consumer_in_classic,
        33: _refuses_commit(
            "with another epoch", 113, "STALE_MEMBER_EPOCH", generation_id_or_member_epoch=7
        ),
        34: _refuses_commit("by an unknown member", 25, "UNKNOWN_MEMBER_ID", member_id="nobody"),
    },
)
