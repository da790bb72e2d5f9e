"""Who reads which log from where, and what came of it (KIP-595, KIP-630)."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from kwire.messages.a01_fetch import FetchRequest, FetchResponse, PartitionData
from kwire.messages.a59_fetch_snapshot import (
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    ResponsePartitionSnapshot,
)
from kwire.messages.metadata_topic import is_metadata_topic
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.peers import node_of_request
from kwire.proxy.flows.summaries.parts import (
    failed,
    few,
    leader,
    outcome,
)
from kwire.proxy.flows.text import size_text
from kwire.text.ids import uuid_text


class FetchedTopic(Protocol):
    """A topic by name, or by id from v13 on."""

    topic: str
    topic_id: UUID


def fetch(decoded: DecodedFlow) -> str | None:
    """The metadata log of a quorum's member, or the partitions of anybody else."""
    request = decoded.request_as(FetchRequest)
    if request is None:
        return None
    answer = decoded.response_as(FetchResponse)
    if len(request.topics) == 1 and _is_metadata(request.topics[0]):
        return outcome(_metadata_asked(request), _metadata_answered(answer))
    return outcome(_asked(request), _answered(answer))


def fetch_snapshot(decoded: DecodedFlow) -> str | None:
    """Which snapshot from which byte on, and how much of it came."""
    request = decoded.request_as(FetchSnapshotRequest)
    if request is None:
        return None
    asked = [
        f"{_who(request)} reads snapshot {one.snapshot_id.end_offset} epoch {one.snapshot_id.epoch}"
        f" from byte {one.position}"
        for topic in request.topics
        for one in topic.partitions
    ]
    response = decoded.response_as(FetchSnapshotResponse)
    if response is None:
        return few(asked)
    pieces = [_piece(one) for topic in response.topics for one in topic.partitions]
    return outcome(few(asked), failed(response.error_code) or few(pieces))


def _piece(one: ResponsePartitionSnapshot) -> str:
    said = failed(one.error_code)
    if one.current_leader is not None:
        leads = leader(one.current_leader.leader_id, one.current_leader.leader_epoch)
        said = f"{said}, {leads}" if said else leads
    return said or f"{size_text(len(one.unaligned_records))} of {size_text(one.size)}"


def _metadata_asked(request: FetchRequest) -> str:
    partitions = [one for topic in request.topics for one in topic.partitions]
    froms = [
        f"{one.fetch_offset}"
        + (f" epoch {one.last_fetched_epoch}" if one.last_fetched_epoch >= 0 else "")
        for one in partitions
    ]
    return f"{_who(request)} reads metadata from {few(froms)}"


def _metadata_answered(response: FetchResponse | None) -> str:
    if response is None:
        return ""
    partitions = [one for topic in response.responses for one in topic.partitions]
    return failed(response.error_code) or few([_metadata(one) for one in partitions])


def _metadata(one: PartitionData) -> str:
    """What a leader can say: come elsewhere, take a snapshot, truncate, or here are records."""
    said = [failed(one.error_code)] if one.error_code else []
    if one.current_leader is not None:
        said.append(leader(one.current_leader.leader_id, one.current_leader.leader_epoch))
    if one.snapshot_id is not None and one.snapshot_id.end_offset >= 0:
        said.append(f"first snapshot {one.snapshot_id.end_offset} epoch {one.snapshot_id.epoch}")
    elif one.diverging_epoch is not None and one.diverging_epoch.end_offset >= 0:
        end = one.diverging_epoch
        said.append(f"log diverges, epoch {end.epoch} ends at {end.end_offset}")
    elif not one.error_code:
        said.append(f"HW {one.high_watermark}")
        said.append(f"{size_text(len(one.records))} of records" if one.records else "nothing new")
    return ", ".join(said)


def _asked(request: FetchRequest) -> str:
    partitions = [
        f"{_name(topic)}-{one.partition}@{one.fetch_offset}"
        for topic in request.topics
        for one in topic.partitions
    ]
    if not partitions:
        return f"{_who(request)} reads on, session {request.session_id}"
    return f"{_who(request)} reads {few(partitions)}"


def _answered(response: FetchResponse | None) -> str:
    if response is None:
        return ""
    partitions = [(topic, one) for topic in response.responses for one in topic.partitions]
    errors = [
        f"{_name(topic)}-{one.partition_index} {failed(one.error_code)}"
        for topic, one in partitions
        if one.error_code
    ]
    size = sum(len(one.records or b"") for _, one in partitions)
    came = f"{size_text(size)} of records" if size else "nothing new"
    return failed(response.error_code) or ", ".join([*([few(errors)] if errors else []), came])


def _who(request: FetchRequest | FetchSnapshotRequest) -> str:
    node = node_of_request(request)
    return "a client" if node is None else str(node)


def _is_metadata(topic: FetchedTopic) -> bool:
    return is_metadata_topic(topic.topic, topic.topic_id)


def _name(topic: FetchedTopic) -> str:
    return topic.topic or uuid_text(topic.topic_id)
