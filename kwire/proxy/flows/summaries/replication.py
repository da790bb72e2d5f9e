"""Summaries of Fetch and FetchSnapshot (KIP-595, KIP-630)."""

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
    with_answer,
)
from kwire.proxy.flows.text import size_text
from kwire.text.ids import uuid_text


class FetchedTopic(Protocol):
    """A topic by name, or by id from v13 on."""

    topic: str
    topic_id: UUID


def fetch(decoded: DecodedFlow) -> str | None:
    """Return the read of the metadata log, or of other partitions."""
    request = decoded.request_as(FetchRequest)
    if request is None:
        return None
    answer = decoded.response_as(FetchResponse)
    if len(request.topics) == 1 and _is_metadata(request.topics[0]):
        return with_answer(_metadata_request(request), _metadata_response(answer))
    return with_answer(_request(request), _response(answer))


def fetch_snapshot(decoded: DecodedFlow) -> str | None:
    """Return the snapshot, the byte it is read from, and how much of it came."""
    request = decoded.request_as(FetchSnapshotRequest)
    if request is None:
        return None
    asked = [
        f"{_reader(request)} reads snapshot {partition.snapshot_id.end_offset}"
        f" epoch {partition.snapshot_id.epoch} from byte {partition.position}"
        for topic in request.topics
        for partition in topic.partitions
    ]
    response = decoded.response_as(FetchSnapshotResponse)
    if response is None:
        return few(asked)
    pieces = [_piece(partition) for topic in response.topics for partition in topic.partitions]
    return with_answer(few(asked), failed(response.error_code) or few(pieces))


def _piece(partition: ResponsePartitionSnapshot) -> str:
    phrases = failed(partition.error_code)
    if partition.current_leader is not None:
        leads = leader(partition.current_leader.leader_id, partition.current_leader.leader_epoch)
        phrases = f"{phrases}, {leads}" if phrases else leads
    return (
        phrases or f"{size_text(len(partition.unaligned_records))} of {size_text(partition.size)}"
    )


def _metadata_request(request: FetchRequest) -> str:
    partitions = [partition for topic in request.topics for partition in topic.partitions]
    froms = [
        f"{partition.fetch_offset}"
        + (f" epoch {partition.last_fetched_epoch}" if partition.last_fetched_epoch >= 0 else "")
        for partition in partitions
    ]
    return f"{_reader(request)} reads metadata from {few(froms)}"


def _metadata_response(response: FetchResponse | None) -> str:
    if response is None:
        return ""
    partitions = [partition for topic in response.responses for partition in topic.partitions]
    return failed(response.error_code) or few([_metadata(partition) for partition in partitions])


def _metadata(partition: PartitionData) -> str:
    """Return a leader's answer: another leader, a snapshot to take, a truncation, or records."""
    phrases = [failed(partition.error_code)] if partition.error_code else []
    if partition.current_leader is not None:
        phrases.append(
            leader(partition.current_leader.leader_id, partition.current_leader.leader_epoch)
        )
    if partition.snapshot_id is not None and partition.snapshot_id.end_offset >= 0:
        phrases.append(
            f"first snapshot {partition.snapshot_id.end_offset} epoch {partition.snapshot_id.epoch}"
        )
    elif partition.diverging_epoch is not None and partition.diverging_epoch.end_offset >= 0:
        end = partition.diverging_epoch
        phrases.append(f"log diverges, epoch {end.epoch} ends at {end.end_offset}")
    elif not partition.error_code:
        phrases.append(f"HW {partition.high_watermark}")
        phrases.append(
            f"{size_text(len(partition.records))} of records"
            if partition.records
            else "nothing new"
        )
    return ", ".join(phrases)


def _request(request: FetchRequest) -> str:
    partitions = [
        f"{_name(topic)}-{partition.partition}@{partition.fetch_offset}"
        for topic in request.topics
        for partition in topic.partitions
    ]
    if not partitions:
        return f"{_reader(request)} reads on, session {request.session_id}"
    return f"{_reader(request)} reads {few(partitions)}"


def _response(response: FetchResponse | None) -> str:
    if response is None:
        return ""
    partitions = [
        (topic, partition) for topic in response.responses for partition in topic.partitions
    ]
    errors = [
        f"{_name(topic)}-{partition.partition_index} {failed(partition.error_code)}"
        for topic, partition in partitions
        if partition.error_code
    ]
    size = sum(len(partition.records or b"") for _, partition in partitions)
    came = f"{size_text(size)} of records" if size else "nothing new"
    return failed(response.error_code) or ", ".join([*([few(errors)] if errors else []), came])


def _reader(request: FetchRequest | FetchSnapshotRequest) -> str:
    node = node_of_request(request)
    return "a client" if node is None else str(node)


def _is_metadata(topic: FetchedTopic) -> bool:
    return is_metadata_topic(topic.topic, topic.topic_id)


def _name(topic: FetchedTopic) -> str:
    return topic.topic or uuid_text(topic.topic_id)
