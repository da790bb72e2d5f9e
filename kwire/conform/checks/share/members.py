"""ShareGroupHeartbeat and ShareGroupDescribe (KIP-932)."""

from __future__ import annotations

from functools import partial
from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.groups.consumer import new_consumer
from kwire.conform.checks.groups.heartbeat_checks import (
    leaving_member,
    listed_type,
    refused_heartbeat,
    refused_join,
)
from kwire.conform.checks.share.member import SHARE_GROUPS, new_share_member
from kwire.conform.expectation import demand_enabled, expect, expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a77_share_group_describe import ShareGroupDescribeRequest

SECTION = CheckSection("share/members", "Members of share groups")

_HEARTBEAT = kip(932, "ShareGroupHeartbeat API")
_DESCRIBE = kip(932, "ShareGroupDescribe API")
_OTHER_TYPE = kafka("GroupMetadataManager.getOrMaybeCreateConsumerGroup")

_refuses = partial(refused_join, new_share_member, _HEARTBEAT)
_refuses_member = partial(refused_heartbeat, new_share_member, _HEARTBEAT)


@SECTION.broker_check(1, _HEARTBEAT)
async def _(server: Server) -> None:
    """A member that joins gets an epoch above 0, an interval and partitions."""
    member = await new_share_member(server)
    answer = await member.joined()
    expect(answer.member_epoch > 0, "an epoch above 0", answer.member_epoch)
    expect(answer.heartbeat_interval_ms > 0, "an interval", answer.heartbeat_interval_ms)
    parts = [(t.topic_id, t.partitions) for t in answer.assignment.topic_partitions]
    expect_equal("partitions", parts, [(member.topic_id, (0,))])


@SECTION.broker_check(2, _HEARTBEAT)
async def _(server: Server) -> None:
    """Two members can be assigned the same partition."""
    first = await new_share_member(server)
    await first.joined()
    second = await first.another()
    await second.joined()
    answer = await first.heartbeat(subscribed_topic_names=(first.topic,))
    expect_error(answer, ErrorCode.NONE)
    # None where nothing has changed
    parts = answer.assignment and [
        (part.topic_id, part.partitions) for part in answer.assignment.topic_partitions
    ]
    expect_equal("partitions of the first", parts, None, [(first.topic_id, (0,))])


SECTION[3] = leaving_member(new_share_member, _HEARTBEAT)
SECTION[4] = _refuses("An empty group id", ErrorCode.INVALID_REQUEST, group_id="")
SECTION[5] = _refuses("An empty member id", ErrorCode.INVALID_REQUEST, member_id="")
SECTION[6] = _refuses(
    "A join without topics", ErrorCode.INVALID_REQUEST, subscribed_topic_names=None
)
SECTION[7] = _refuses("An empty rack id", ErrorCode.INVALID_REQUEST, rack_id="")
SECTION[8] = _refuses("An epoch below -1", ErrorCode.INVALID_REQUEST, member_epoch=-2)
SECTION[9] = _refuses_member(
    "A member that the group does not have", ErrorCode.UNKNOWN_MEMBER_ID, member_id="nobody"
)
SECTION[10] = refused_heartbeat(
    new_share_member,
    kafka("GroupMetadataManager.throwIfShareGroupMemberEpochIsInvalid"),
    "An epoch above the member's",
    ErrorCode.FENCED_MEMBER_EPOCH,
    member_epoch=70,
)


@SECTION.broker_refuses(11, _OTHER_TYPE, ErrorCode.GROUP_ID_NOT_FOUND)
async def _(server: Server) -> Any:
    """A consumer that joins a share group gets"""
    member = await new_share_member(server)
    await member.joined()
    consumer = await new_consumer(server, member.group, topics=(member.topic,))
    return await consumer.join()


@SECTION.broker_refuses(12, _OTHER_TYPE, ErrorCode.GROUP_ID_NOT_FOUND)
async def _(server: Server) -> Any:
    """A share member that joins a consumer group gets"""
    member = await new_share_member(server)
    consumer = await new_consumer(server, member.group, topics=(member.topic,))
    await consumer.joined()
    return await member.join()


@SECTION.broker_refuses(14, _DESCRIBE, ErrorCode.GROUP_ID_NOT_FOUND)
async def _(server: Server) -> Any:
    """ShareGroupDescribe of an unknown group gets"""
    (await server.connection()).demand(ShareGroupDescribeRequest)
    name = server.name()
    coordinator = await server.coordinator(name)
    answer = await coordinator.ask(ShareGroupDescribeRequest(group_ids=(name,)))
    demand_enabled(answer, SHARE_GROUPS)
    return answer


SECTION[15] = listed_type(new_share_member, kip(932, "Share group membership"), "share")
