"""Answers of a group's coordinator: a group has one member, of the old protocol or of KIP-848's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kwire.codec.declaration import Response
from kwire.conform.clients.answers.ask import NodeAnswers, NodeAsk, missing
from kwire.conform.clients.cluster import CommittedOffset, MemberGroup
from kwire.conform.whole_answer import filled, mirrored
from kwire.error_codes import ErrorCode
from kwire.messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)

HEARTBEAT_MS = 500
"""The interval that a node asks members of a consumer group to keep (KIP-848)."""


def find_coordinator(ask: NodeAsk) -> Response:
    """Return the one coordinator of every key."""
    node = ask.cluster.coordinator
    address = ask.cluster.addresses[node]
    place = {"node_id": node, "host": address.host, "port": address.port}
    if ask.version >= 4:
        found = [{"key": key, **place} for key in ask.body.coordinator_keys]
        return filled(FindCoordinatorResponse, coordinators=found)
    return filled(FindCoordinatorResponse, **place)


def join_group(ask: NodeAsk) -> Response:
    """Let a member in, alone; one without an id gets an id first (KIP-394)."""
    body, group = ask.body, _group(ask)
    member_id, code = body.member_id, ErrorCode.NONE
    if not body.protocols or not body.protocol_type:
        code = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    elif not member_id:
        member_id = f"member-{group.generation}-{len(group.pending) + 1}"
        group.pending.add(member_id)
        if ask.version >= 4 and body.group_instance_id is None:
            code = ErrorCode.MEMBER_ID_REQUIRED
    elif member_id not in (group.member_id, *group.pending):
        code = ErrorCode.UNKNOWN_MEMBER_ID
    if code:
        return JoinGroupResponse(error_code=code, generation_id=-1, member_id=member_id)
    group.generation += 1
    group.member_id, group.instance_id = member_id, body.group_instance_id
    protocol = body.protocols[0]
    own = {"member_id": member_id, "group_instance_id": group.instance_id}
    return filled(
        JoinGroupResponse,
        generation_id=group.generation,
        protocol_type=body.protocol_type,
        protocol_name=protocol.name,
        leader=member_id,
        member_id=member_id,
        members=[{**own, "metadata": protocol.metadata}],
    )


def sync_group(ask: NodeAsk) -> Response:
    """Return what the leader, the only member, has given itself."""
    body, group = ask.body, _group(ask)
    if error := _wrong_member(group, body.member_id, body.generation_id):
        return SyncGroupResponse(error_code=error)
    for assignment in body.assignments:
        group.assignment = assignment.assignment
    return mirrored(SyncGroupResponse, body, assignment=group.assignment)


def heartbeat(ask: NodeAsk) -> Response:
    """Know the member, or not."""
    body, group = ask.body, _group(ask)
    return HeartbeatResponse(error_code=_wrong_member(group, body.member_id, body.generation_id))


def leave_group(ask: NodeAsk) -> Response:
    """Forget the member."""
    _group(ask).member_id = ""
    return mirrored(LeaveGroupResponse, ask.body)


def consumer_group_heartbeat(ask: NodeAsk) -> Response:
    """Let a member join with epoch 0, and give it all it subscribes to (KIP-848)."""
    body, group = ask.body, _group(ask)
    if body.member_epoch < 0:
        group.member_id = ""
        return ConsumerGroupHeartbeatResponse(
            member_id=body.member_id, member_epoch=body.member_epoch
        )
    joins = body.member_epoch == 0
    subscribes = body.subscribed_topic_names or body.subscribed_topic_regex
    if joins and (not subscribes or body.rebalance_timeout_ms < 0 or body.topic_partitions != []):
        return ConsumerGroupHeartbeatResponse(error_code=ErrorCode.INVALID_REQUEST)
    if joins:
        group.is_consumer = True
        group.member_id = body.member_id or "member-1"
        group.generation += 1
    elif body.member_id != group.member_id:
        return ConsumerGroupHeartbeatResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID)
    elif body.member_epoch > group.generation or body.member_epoch < group.generation - 1:
        return ConsumerGroupHeartbeatResponse(error_code=ErrorCode.FENCED_MEMBER_EPOCH)
    assignment = None
    if joins or body.subscribed_topic_names is not None:
        topics = filter(None, map(ask.cluster.topic, body.subscribed_topic_names or ()))
        parts = [{"topic_id": t.id, "partitions": tuple(range(len(t.partitions)))} for t in topics]
        assignment = {"topic_partitions": parts}
    return filled(
        ConsumerGroupHeartbeatResponse,
        member_id=group.member_id,
        member_epoch=group.generation,
        heartbeat_interval_ms=HEARTBEAT_MS,
        assignment=assignment,
    )


def offset_commit(ask: NodeAsk) -> Response:
    """Keep offsets of the member, or of a client where the group has no member."""
    body, group = ask.body, _group(ask)
    is_member = body.member_id or group.member_id
    of_member = (
        _wrong_member(group, body.member_id, body.generation_id_or_member_epoch)
        if is_member
        else ErrorCode.NONE
    )
    answer = mirrored(OffsetCommitResponse, body)
    for wanted, result in zip(body.topics, answer.topics, strict=True):
        topic, error = ask.cluster.topic_by(wanted.name, wanted.topic_id), of_member
        if topic is None and not error:
            error = missing(by_id=ask.version >= 10)
        for part, told in zip(wanted.partitions, result.partitions, strict=True):
            told.error_code = error
            if topic is not None and not error:
                group.offsets[topic.name, part.partition_index] = committed(part)
    return answer


def offset_fetch(ask: NodeAsk) -> Response:
    """Return offsets that were committed, -1 where none was; of several groups from v8 on."""
    body, groups = ask.body, ask.cluster.groups
    if ask.version < 8:
        group = groups.get(body.group_id, MemberGroup())
        wanted = (
            [(name, (index,)) for name, index in group.offsets]
            if body.topics is None
            else [(topic.name, topic.partition_indexes) for topic in body.topics]
        )
        topics = [{"name": n, "partitions": _kept(group, n, indexes)} for n, indexes in wanted]
        return filled(OffsetFetchResponse, topics=topics)
    return filled(OffsetFetchResponse, groups=[_group_offsets(ask, part) for part in body.groups])


def _group_offsets(ask: NodeAsk, wanted: Any) -> dict[str, Any]:
    group = ask.cluster.groups.get(wanted.group_id, MemberGroup())
    topics = []
    for topic in wanted.topics or ():
        found = ask.cluster.topic_by(topic.name, topic.topic_id)
        parts = _kept(group, found.name if found else "", topic.partition_indexes)
        topics.append({"name": topic.name, "topic_id": topic.topic_id, "partitions": parts})
    return {"group_id": wanted.group_id, "topics": topics}


def _kept(group: MemberGroup, topic: str, indexes: Iterable[int]) -> list[dict[str, Any]]:
    none = CommittedOffset()
    kept = {index: group.offsets.get((topic, index), none) for index in indexes}
    return [{"partition_index": index, **offset._asdict()} for index, offset in kept.items()]


def committed(part: Any) -> CommittedOffset:
    """Return an offset as a request has it."""
    return CommittedOffset(
        part.committed_offset, part.committed_leader_epoch, part.committed_metadata
    )


def _group(ask: NodeAsk) -> MemberGroup:
    return ask.cluster.groups.setdefault(ask.body.group_id, MemberGroup())


def _wrong_member(group: MemberGroup, member_id: str, generation: int) -> ErrorCode:
    if member_id != group.member_id:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if generation == group.generation:
        return ErrorCode.NONE
    return ErrorCode.STALE_MEMBER_EPOCH if group.is_consumer else ErrorCode.ILLEGAL_GENERATION


ANSWERS: NodeAnswers = {FindCoordinatorRequest: find_coordinator}
COORDINATED: NodeAnswers = {
    JoinGroupRequest: join_group,
    SyncGroupRequest: sync_group,
    HeartbeatRequest: heartbeat,
    LeaveGroupRequest: leave_group,
    OffsetCommitRequest: offset_commit,
    OffsetFetchRequest: offset_fetch,
    ConsumerGroupHeartbeatRequest: consumer_group_heartbeat,
}
