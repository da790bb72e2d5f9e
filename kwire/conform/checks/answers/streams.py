"""Whole answers about streams groups, their topologies, tasks and endpoints (KIP-1071)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.groups.settings import group_setting
from kwire.conform.checks.streams.member import (
    SUBTOPOLOGY,
    StreamsMember,
    new_streams_member,
    topology,
)
from kwire.conform.expectation import expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import schema
from kwire.conform.whole_answer import (
    ANYTHING,
    NOT_NEGATIVE,
    expect_in_each_version,
    expect_whole,
    one_of,
)
from kwire.error_codes import ErrorCode
from kwire.messages import a88_streams_group_heartbeat as beats
from kwire.messages import a89_streams_group_describe as described

SECTION = CheckSection("answers/streams", "Streams groups")

_HOST, _PORT = "streams.example", 7777
_RACK, _PROCESS = "rack", "process-1"
_TAG: dict[str, Any] = {"key": "zone", "value": "one"}
_BOTH = (0, 1)


def _inner(member: StreamsMember, kind: str, policy: str, module: Any, partitions: int) -> Any:
    """Return a topic of the topology's own; module: of the API's messages."""
    return module.TopicInfo(
        name=f"{member.group}-{kind}",
        partitions=partitions,
        replication_factor=1,
        topic_configs=[module.KeyValue(key="cleanup.policy", value=policy)],
    )


def _changelog(member: StreamsMember, module: Any, partitions: int = 2) -> Any:
    return _inner(member, "changelog", "compact", module, partitions)


def _between(member: StreamsMember, module: Any) -> Any:
    return _inner(member, "repartition", "delete", module, 2)


async def _joined(server: Server) -> tuple[StreamsMember, Any]:
    """Return a member with an endpoint, changelog and repartition topics; and its last answer."""
    member = await new_streams_member(server, 2)
    changelog, between = _changelog(member, beats, 0), _between(member, beats)
    for topic in (changelog, between):
        server.remove_topic(topic.name)
    answer = await member.join(
        rack_id=_RACK,
        user_endpoint=beats.Endpoint(host=_HOST, port=_PORT),
        client_tags=[beats.KeyValue(**_TAG)],
        topology=topology(
            member.topic,
            state_changelog_topics=[changelog],
            repartition_sink_topics=(between.name,),
            repartition_source_topics=[between],
        ),
    )
    expect_error(answer, ErrorCode.NONE)

    async def assigned() -> Any:
        answer = await member.heartbeat()
        expect_error(answer, ErrorCode.NONE)
        return answer if member.partitions else None

    return member, await server.wait_for("the tasks", assigned)


def _answer(member: StreamsMember, **fields: Any) -> beats.StreamsGroupHeartbeatResponse:
    """Return an answer of a group that is stable."""
    own: dict[str, Any] = {
        "member_id": member.member_id,
        "member_epoch": member.epoch,
        "acceptable_recovery_lag_legacy": NOT_NEGATIVE,
        "task_offset_interval_ms": NOT_NEGATIVE,
        "acceptable_recovery_lag": ANYTHING,
        "topology_description_required": ANYTHING,
        "status": one_of(None, []),
    }
    return beats.StreamsGroupHeartbeatResponse(**(own | fields))


@SECTION.broker_check(1, schema("StreamsGroupHeartbeatResponse"))
async def _(server: Server) -> None:
    """StreamsGroupHeartbeat has a member's tasks, and the endpoints until they are known."""
    member, first = await _joined(server)
    names = (member.topic, _between(member, beats).name)
    endpoint = beats.EndpointToPartitions(
        user_endpoint=beats.Endpoint(host=_HOST, port=_PORT),
        active_partitions=[beats.TopicPartition(topic=name, partitions=_BOTH) for name in names],
    )
    active = [beats.TaskIds(subtopology_id=SUBTOPOLOGY, partitions=_BOTH)]
    version = member.connection.version_for(beats.StreamsGroupHeartbeatRequest())
    interval = await group_setting(server, member.group, "streams.heartbeat.interval.ms")
    known: dict[str, Any] = {
        "heartbeat_interval_ms": interval,
        "endpoint_information_epoch": first.endpoint_information_epoch,
    }
    expected = _answer(
        member,
        active_tasks=active,
        standby_tasks=[],
        warmup_tasks=[],
        partitions_by_user_endpoint=[endpoint],
        **known,
    )
    expect_whole(first, expected, version)
    again = await member.heartbeat(endpoint_information_epoch=first.endpoint_information_epoch)
    expect_whole(again, _answer(member, **known), version)


@SECTION.broker_check(2, schema("StreamsGroupDescribeResponse"))
async def _(server: Server) -> None:
    """StreamsGroupDescribe describes topology, members and tasks, in every version."""
    member, _ = await _joined(server)
    between = _between(member, described)
    subtopology = described.Subtopology(
        subtopology_id=SUBTOPOLOGY,
        source_topics=(member.topic,),
        repartition_sink_topics=(between.name,),
        state_changelog_topics=[_changelog(member, described)],
        repartition_source_topics=[between],
    )
    tasks = described.TaskIds(subtopology_id=SUBTOPOLOGY, partitions=_BOTH)
    own = described.Member(
        member_id=member.member_id,
        member_epoch=member.epoch,
        rack_id=_RACK,
        client_id=member.connection.client_id or "",
        client_host=f"/{member.connection.own_host}",
        process_id=_PROCESS,
        user_endpoint=described.Endpoint(host=_HOST, port=_PORT),
        client_tags=[described.KeyValue(**_TAG)],
        task_offsets=ANYTHING,
        task_end_offsets=ANYTHING,
        assignment=described.Assignment(active_tasks=[tasks]),
        target_assignment=described.Assignment(active_tasks=[tasks]),
    )
    group = described.DescribedGroup(
        group_id=member.group,
        group_state="Stable",
        group_epoch=member.epoch,
        assignment_epoch=member.epoch,
        topology=described.Topology(subtopologies=[subtopology]),
        members=[own],
        topology_description=ANYTHING,
        topology_description_status=ANYTHING,
        assignor_name=ANYTHING,
    )
    request = described.StreamsGroupDescribeRequest(group_ids=(member.group,))
    expected = described.StreamsGroupDescribeResponse(groups=[group])
    await expect_in_each_version(member.connection, request, expected)
