"""Members that an interrupted check has left in a group, which cannot be deleted with them.

Kafka's GroupCoordinatorService: each kind of group describes its own members only.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from kwire.conform.connection import CheckedConnection
from kwire.conform.vocabulary import Skipped
from kwire.messages.a13_leave_group import LeaveGroupRequest, MemberIdentity
from kwire.messages.a15_describe_groups import DescribeGroupsRequest
from kwire.messages.a68_consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kwire.messages.a69_consumer_group_describe import ConsumerGroupDescribeRequest
from kwire.messages.a76_share_group_heartbeat import ShareGroupHeartbeatRequest
from kwire.messages.a77_share_group_describe import ShareGroupDescribeRequest
from kwire.messages.a88_streams_group_heartbeat import StreamsGroupHeartbeatRequest
from kwire.messages.a89_streams_group_describe import StreamsGroupDescribeRequest

_LEAVES = -1
_LEAVE_MANY = 3
_KINDS: tuple[tuple[Any, Any], ...] = (
    (ConsumerGroupDescribeRequest, ConsumerGroupHeartbeatRequest),
    (ShareGroupDescribeRequest, ShareGroupHeartbeatRequest),
    (StreamsGroupDescribeRequest, StreamsGroupHeartbeatRequest),
)
"""Kinds of groups that leave by a heartbeat: what describes one, and the heartbeat."""


async def empty_group(connection: CheckedConnection, group: str) -> None:
    """Have all members leave a group of any kind. Raises Deviation for an answer that is none."""
    with suppress(Skipped):
        answer = await connection.ask(DescribeGroupsRequest(groups=(group,)))
        for member_id in _members(answer):
            await _leave_classic(connection, group, member_id)
    for describe, heartbeat in _KINDS:
        with suppress(Skipped):
            answer = await connection.ask(describe(group_ids=(group,)))
            for member_id in _members(answer):
                await connection.ask(
                    heartbeat(group_id=group, member_id=member_id, member_epoch=_LEAVES)
                )


def _members(answer: object) -> list[str]:
    groups = getattr(answer, "groups", ())
    return [member.member_id for group in groups for member in group.members]


async def _leave_classic(connection: CheckedConnection, group: str, member_id: str) -> None:
    request = LeaveGroupRequest(group_id=group, members=[MemberIdentity(member_id=member_id)])
    version = connection.version_for(request)
    if version < _LEAVE_MANY:
        request = LeaveGroupRequest(group_id=group, member_id=member_id)
    await connection.ask(request, version)
