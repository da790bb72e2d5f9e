"""Whole answers about streams groups, their topologies, tasks and endpoints (KIP-1071)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from kwire.conform.check import CheckSection
from kwire.conform.checks.groups.settings import configure_group, group_setting
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
    A_GROUPS_OPERATIONS,
    ANYTHING,
    BOTH,
    NOT_NEGATIVE,
    expect_in_each_version,
    expect_whole,
    one_of,
)
from kwire.error_codes import ErrorCode
from kwire.messages import StreamsGroupDescribeRequest, StreamsGroupHeartbeatRequest

SECTION = CheckSection("answers/streams", "Streams groups")

_HOST, _RACK = "streams.example", "rack"
_PORTS = (7777, 7778)
_EPOCH = 1
_TAG = {"key": "zone", "value": "one"}


def _inner(member: StreamsMember, kind: str, policy: str, partitions: int = 2) -> dict[str, Any]:
    """Return a topic of the topology's own."""
    return {
        "name": f"{member.group}-{kind}",
        "partitions": partitions,
        "replication_factor": 1,
        "topic_configs": [{"key": "cleanup.policy", "value": policy}],
    }


def _changelog(member: StreamsMember, partitions: int = 2) -> dict[str, Any]:
    return _inner(member, "changelog", "compact", partitions)


def _between(member: StreamsMember) -> dict[str, Any]:
    return _inner(member, "repartition", "delete")


@dataclass(slots=True, kw_only=True)
class _Process:
    """A member with an endpoint. last: the answer that had its tasks."""

    member: StreamsMember
    port: int
    last: Any = None

    @property
    def id(self) -> str:
        """Its process id: a standby task is never in the process of the active one."""
        return f"process-{self.port}"

    @property
    def endpoint(self) -> dict[str, Any]:
        """Its host and port."""
        return {"host": _HOST, "port": self.port}

    async def join(self) -> None:
        """Join the group with a changelog and a repartition topic."""
        between = _between(self.member)
        self.last = await self.member.join(
            rack_id=_RACK,
            process_id=self.id,
            user_endpoint=self.endpoint,
            client_tags=[_TAG],
            topology=topology(
                self.member.topic,
                epoch=_EPOCH,
                state_changelog_topics=[_changelog(self.member, 0)],
                repartition_sink_topics=(between["name"],),
                repartition_source_topics=[between],
            ),
        )
        expect_error(self.last, ErrorCode.NONE)

    async def beat(self) -> bool:
        """Tell which tasks it has; return True once it has an active and a standby one."""
        kinds = ("active_tasks", "standby_tasks", "warmup_tasks")
        answer = await self.member.heartbeat(**{kind: getattr(self.last, kind) for kind in kinds})
        expect_error(answer, ErrorCode.NONE)
        if answer.active_tasks is not None:
            self.last = answer
        return bool(self.last.active_tasks and self.last.standby_tasks)


async def _joined(server: Server) -> tuple[_Process, _Process]:
    """Return two members, each with an active task and the standby task of the other."""
    member = await new_streams_member(server, 2)
    await configure_group(server, member.group, "streams.num.standby.replicas", "1")
    for topic in (_changelog(member), _between(member)):
        server.remove_topic(topic["name"])
    members = (member, replace(member, member_id=str(uuid4())))
    first, second = (_Process(member=m, port=p) for m, p in zip(members, _PORTS, strict=True))
    await first.join()
    await second.join()

    async def assigned() -> bool:
        return await first.beat() & await second.beat()

    await server.wait_for("the tasks", assigned)
    return first, second


def _answer(member: StreamsMember, **fields: Any) -> dict[str, Any]:
    """Return an answer of a group that is stable."""
    own = {
        "member_id": member.member_id,
        "member_epoch": member.epoch,
        "acceptable_recovery_lag_legacy": NOT_NEGATIVE,
        "task_offset_interval_ms": NOT_NEGATIVE,
        "acceptable_recovery_lag": ANYTHING,
        "topology_description_required": ANYTHING,
        "status": one_of(None, []),
    }
    return own | fields


def _tasks(partitions: Any) -> list[dict[str, Any]]:
    return [{"subtopology_id": SUBTOPOLOGY, "partitions": partitions}]


def _at_endpoint(process: _Process, standby: Any) -> dict[str, Any]:
    """Return the endpoint of a process with its active tasks, and these standby ones."""
    member = process.member
    names = (member.topic, _between(member)["name"])
    active, others = (
        [{"topic": name, "partitions": partitions} for name in names]
        for partitions in (member.partitions, standby)
    )
    return {
        "user_endpoint": process.endpoint,
        "active_partitions": active,
        "standby_partitions": others,
    }


@SECTION.broker_check(1, schema("StreamsGroupHeartbeatResponse"))
async def _(server: Server) -> None:
    """StreamsGroupHeartbeat has a member's tasks, and the endpoints until they are known."""
    first, second = await _joined(server)
    member, others = first.member, second.member.partitions
    version = member.connection.version_for(StreamsGroupHeartbeatRequest())
    interval = await group_setting(server, member.group, "streams.heartbeat.interval.ms")
    expected = _answer(
        member,
        member_epoch=first.last.member_epoch,
        heartbeat_interval_ms=interval,
        endpoint_information_epoch=ANYTHING,
        active_tasks=_tasks(tuple(p for p in BOTH if p not in others)),
        standby_tasks=_tasks(others),
        warmup_tasks=[],
        partitions_by_user_endpoint=ANYTHING,
    )
    expect_whole(first.last, expected, version)
    told = await member.heartbeat()
    epoch = {"endpoint_information_epoch": told.endpoint_information_epoch}
    known = _answer(member, heartbeat_interval_ms=interval, **epoch)
    endpoints = [_at_endpoint(first, others), _at_endpoint(second, member.partitions)]
    expect_whole(told, {**known, "partitions_by_user_endpoint": endpoints}, version)
    expect_whole(await member.heartbeat(**epoch), known, version)


def _described(process: _Process, standby: Any) -> dict[str, Any]:
    member = process.member
    tasks = {"active_tasks": _tasks(member.partitions), "standby_tasks": _tasks(standby)}
    return {
        "member_id": member.member_id,
        "member_epoch": member.epoch,
        "rack_id": _RACK,
        "client_id": member.connection.client_id or "",
        "client_host": f"/{member.connection.own_host}",
        "process_id": process.id,
        "user_endpoint": process.endpoint,
        "client_tags": [_TAG],
        "topology_epoch": _EPOCH,
        "task_offsets": ANYTHING,
        "task_end_offsets": ANYTHING,
        "assignment": tasks,
        "target_assignment": tasks,
    }


@SECTION.broker_check(2, schema("StreamsGroupDescribeResponse"))
async def _(server: Server) -> None:
    """StreamsGroupDescribe describes topology, members and tasks, in every version."""
    first, second = await _joined(server)
    member, between = first.member, _between(first.member)
    subtopology = {
        "subtopology_id": SUBTOPOLOGY,
        "source_topics": (member.topic,),
        "repartition_sink_topics": (between["name"],),
        "state_changelog_topics": [_changelog(member)],
        "repartition_source_topics": [between],
    }
    group = {
        "group_id": member.group,
        "group_state": "Stable",
        "group_epoch": member.epoch,
        "assignment_epoch": member.epoch,
        "topology": {"epoch": _EPOCH, "subtopologies": [subtopology]},
        "members": [
            _described(first, second.member.partitions),
            _described(second, member.partitions),
        ],
        "topology_description": ANYTHING,
        "topology_description_status": ANYTHING,
        "assignor_name": ANYTHING,
        "authorized_operations": A_GROUPS_OPERATIONS,
    }
    request = StreamsGroupDescribeRequest(
        group_ids=(member.group,), include_authorized_operations=True
    )
    await expect_in_each_version(member.connection, request, {"groups": [group]})
