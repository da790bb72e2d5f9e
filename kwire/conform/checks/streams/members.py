"""StreamsGroupHeartbeat and StreamsGroupDescribe (KIP-1071)."""

from __future__ import annotations

from functools import partial
from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.groups.heartbeat_checks import (
    leaving_member,
    listed_type,
    refused_heartbeat,
    refused_join,
)
from kwire.conform.checks.streams.member import (
    STREAMS_GROUPS,
    SUBTOPOLOGY,
    new_streams_member,
    topology,
)
from kwire.conform.expectation import demand_enabled, expect, expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import documentation, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a88_streams_group_heartbeat import CopartitionGroup, TaskIds
from kwire.messages.a89_streams_group_describe import StreamsGroupDescribeRequest

SECTION = CheckSection("streams/members", "Members of streams groups")

_HEARTBEAT = kip(1071, "StreamsGroupHeartbeat")
_DESCRIBE = kip(1071, "StreamsGroupDescribe")
_MISSING_SOURCE_TOPICS = 1
"""The code of a status in the answer to a heartbeat."""

_refuses = partial(refused_join, new_streams_member, _HEARTBEAT)
_refuses_member = partial(refused_heartbeat, new_streams_member, _HEARTBEAT)


@SECTION.broker_check(1, _HEARTBEAT)
async def _(server: Server) -> None:
    """A member that joins gets an epoch above 0 and an interval."""
    member = await new_streams_member(server)
    answer = await member.joined()
    expect(answer.member_epoch > 0, "an epoch above 0", answer.member_epoch)
    expect(answer.heartbeat_interval_ms > 0, "an interval", answer.heartbeat_interval_ms)
    expect_equal("member id", answer.member_id, member.member_id)


@SECTION.broker_check(2, _HEARTBEAT)
async def _(server: Server) -> None:
    """The only member gets a task for every partition."""
    member = await new_streams_member(server, partitions=2)
    await member.joined()

    async def assigned() -> bool:
        if len(member.partitions) < 2:
            await member.heartbeat()
        return sorted(member.partitions) == [0, 1]

    await server.wait_for("two active tasks", assigned)


@SECTION.broker_check(3, _HEARTBEAT)
async def _(server: Server) -> None:
    """A source topic that does not exist gives the status MISSING_SOURCE_TOPICS."""
    member = await new_streams_member(server)
    answer = await member.join(topology=topology(server.name()))
    expect_error(answer, ErrorCode.NONE)
    codes = [status.status_code for status in answer.status or []]
    expect(_MISSING_SOURCE_TOPICS in codes, f"the status {_MISSING_SOURCE_TOPICS}", codes)
    expect(len({*codes}) == len(codes), "no status twice", codes)


SECTION[4] = leaving_member(new_streams_member, _HEARTBEAT)
SECTION[5] = _refuses("An empty group id", ErrorCode.INVALID_REQUEST, group_id="")
SECTION[6] = _refuses("An empty member id", ErrorCode.INVALID_REQUEST, member_id="")
SECTION[7] = _refuses("A join without a topology", ErrorCode.INVALID_REQUEST, topology=None)
SECTION[8] = _refuses(
    "A join without a rebalance timeout", ErrorCode.INVALID_REQUEST, rebalance_timeout_ms=-1
)
SECTION[9] = _refuses("A join without active tasks", ErrorCode.INVALID_REQUEST, active_tasks=None)
_OWN_TASKS = [TaskIds(subtopology_id=SUBTOPOLOGY, partitions=(0,))]
SECTION[10] = _refuses(
    "A join with tasks of its own", ErrorCode.INVALID_REQUEST, active_tasks=_OWN_TASKS
)
SECTION[18] = _refuses(
    "A join with standby tasks of its own", ErrorCode.INVALID_REQUEST, standby_tasks=_OWN_TASKS
)
SECTION[19] = _refuses(
    "A join with warm-up tasks of its own", ErrorCode.INVALID_REQUEST, warmup_tasks=_OWN_TASKS
)


@SECTION.broker_refuses(11, _HEARTBEAT, ErrorCode.STREAMS_INVALID_TOPOLOGY)
async def _(server: Server) -> Any:
    """Copartitioned topics that the subtopology does not have get"""
    member = await new_streams_member(server)
    broken = topology(member.topic, copartition_groups=[CopartitionGroup(source_topics=(7,))])
    return await member.join(topology=broken)


SECTION[12] = _refuses("An empty instance id", ErrorCode.INVALID_REQUEST, instance_id="")
SECTION[13] = _refuses_member(
    "A member that the group does not have", ErrorCode.UNKNOWN_MEMBER_ID, member_id="nobody"
)
SECTION[14] = _refuses_member(
    "An epoch above the member's", ErrorCode.FENCED_MEMBER_EPOCH, member_epoch=70
)


@SECTION.broker_refuses(16, _DESCRIBE, ErrorCode.GROUP_ID_NOT_FOUND)
async def _(server: Server) -> Any:
    """StreamsGroupDescribe of an unknown group gets"""
    (await server.connection()).demand(StreamsGroupDescribeRequest)
    name = server.name()
    coordinator = await server.coordinator(name)
    answer = await coordinator.ask(StreamsGroupDescribeRequest(group_ids=(name,)))
    demand_enabled(answer, STREAMS_GROUPS)
    return answer


SECTION[17] = listed_type(
    new_streams_member, documentation("Streams Rebalance Protocol"), "streams"
)
