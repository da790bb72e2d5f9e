"""Takes secrets out of frames before they are written anywhere, without changing their length.

SASL tokens, delegation token HMACs, SCRAM secrets and sensitive configs become zeros and asterisks,
also inside envelopes (KIP-590) and in the metadata log's records. A frame that may hold a secret
and cannot be masked is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from crc32c import crc32c

from kwire.batches import RecordBatch, read_batches
from kwire.batches.current import CHECKED
from kwire.batches.metadata_records import OpaqueRecord, read_metadata_record
from kwire.capture.record import LEFT_OUT, MASKED_FIELDS
from kwire.codec.declaration import Group, Message
from kwire.errors import KwireError, WireError
from kwire.messages.a01_fetch import FetchResponse
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.messages.a59_fetch_snapshot import FetchSnapshotResponse
from kwire.messages.headers import RequestHeader, ResponseHeader
from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID, is_metadata_topic
from kwire.messages.registry import api_key, api_keys
from kwire.net.frames import (
    RequestHead,
    decode_request,
    decode_response,
    request_head,
    request_header_version,
    response_header_version,
)
from kwire.proxy.flows.flow import Flow
from kwire.proxy.flows.masks import holds_secrets, is_secret, may_hold_secrets

_FETCH = api_key("Fetch")
_FETCH_SNAPSHOT = api_key("FetchSnapshot")

SECRET_APIS = api_keys(
    "CreateTopics",
    "DescribeConfigs",
    "AlterConfigs",
    "SaslAuthenticate",
    "CreateDelegationToken",
    "RenewDelegationToken",
    "ExpireDelegationToken",
    "DescribeDelegationToken",
    "IncrementalAlterConfigs",
    "AlterUserScramCredentials",
    "Envelope",
)
"""APIs whose frames are always looked at; of Fetch and FetchSnapshot those of the metadata log."""

_CRC = CHECKED - 4
_METADATA_MARKS = (METADATA_TOPIC.encode(), METADATA_TOPIC_ID.bytes)
_SEARCHED = 64 * 1024


class CannotMask(WireError):
    """There may be a secret where nothing can be replaced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """The two frames of a flow as they may be written down. *_redaction: None where as passed."""

    request: bytes | None
    response: bytes | None
    request_redaction: str | None = None
    response_redaction: str | None = None


def redacted(flow: Flow) -> Redacted:
    """The frames of a flow without secrets."""
    request, response = flow.request_copy, flow.response_copy
    if flow.key not in SECRET_APIS and not _of_metadata_log(flow):
        return Redacted(request=request, response=response)
    inner = _inner_head(flow)
    asked, why = _mask_request(request, flow.request_size)
    answer, reason = _mask_response(
        response, flow.response_size or 0, flow.key, flow.version, inner
    )
    return Redacted(
        request=asked, response=answer, request_redaction=why, response_redaction=reason
    )


def mask_message(message: Message) -> bool:
    """Mask the secrets of a message in place; whether there were any. Raises CannotMask."""
    found = may_hold_secrets(type(message)) and _mask(message, holds_secrets(message))
    if isinstance(message, FetchResponse):
        found |= _mask_fetch(message)
    if isinstance(message, FetchSnapshotResponse):
        found |= _mask_snapshot(message)
    return found


def _of_metadata_log(flow: Flow) -> bool:
    """Whether the response brings records of the metadata log, by name or by id.

    They come where the request names that topic and no other (KafkaRaftClient's
    hasValidTopicPartition), so that the response begins with it: a long one is not searched whole.
    """
    if flow.key != _FETCH:
        return flow.key == _FETCH_SNAPSHOT
    request, response = flow.request_copy or b"", flow.response_copy or b""
    frames = (request, response[:_SEARCHED])
    return any(mark in frame for mark in _METADATA_MARKS for frame in frames)


def _inner_head(flow: Flow) -> RequestHead | None:
    """What the response in an envelope is to be read by."""
    if flow.key != EnvelopeRequest.key or flow.request_copy is None:
        return None
    try:
        body = decode_request(flow.request_copy).body
        return request_head(body.request_data) if isinstance(body, EnvelopeRequest) else None
    except KwireError:
        return None


def _mask_request(frame: bytes | None, size: int) -> tuple[bytes | None, str | None]:
    if frame is None:
        return None, None
    try:
        masked = mask_request(frame) if len(frame) == size else None
    except KwireError:
        masked = None
    return _judged(frame, masked)


def _mask_response(
    frame: bytes | None, size: int, key: int, version: int, inner: RequestHead | None
) -> tuple[bytes | None, str | None]:
    if frame is None:
        return None, None
    try:
        masked = mask_response(frame, key, version, inner) if len(frame) == size else None
    except KwireError:
        masked = None
    return _judged(frame, masked)


def _judged(frame: bytes, masked: bytes | None) -> tuple[bytes | None, str | None]:
    if masked is None or len(masked) != len(frame):
        return None, LEFT_OUT
    return masked, None if masked == frame else MASKED_FIELDS


def mask_request(frame: bytes) -> bytes:
    """A request without its secrets, as long as before. Raises KwireError where it is not read."""
    asked = decode_request(frame)
    changed = mask_message(asked.body)
    if isinstance(asked.body, EnvelopeRequest):
        inner = mask_request(asked.body.request_data)
        changed |= inner != asked.body.request_data
        asked.body.request_data = inner
    if not changed and not asked.left_over:
        return frame
    header_version = request_header_version(asked.header.request_api_key, asked.version)
    return _written(asked.header, header_version, asked.body, asked.version, asked.left_over)


def mask_response(frame: bytes, key: int, version: int, inner: RequestHead | None = None) -> bytes:
    """A response without its secrets; inner: head of the request in the envelope it answers."""
    answer = decode_response(frame, key, version)
    changed = mask_message(answer.body)
    if isinstance(answer.body, EnvelopeResponse) and answer.body.response_data is not None:
        if inner is None:
            raise CannotMask("the request in the envelope is not known")
        masked = mask_response(answer.body.response_data, inner.key, inner.version)
        changed |= masked != answer.body.response_data
        answer.body.response_data = masked
    if not changed and not answer.left_over:
        return frame
    header_version = response_header_version(key, version)
    return _written(answer.header, header_version, answer.body, answer.version, answer.left_over)


def _written(
    header: RequestHeader | ResponseHeader,
    header_version: int,
    body: Message,
    version: int,
    left_over: int,
) -> bytes:
    return header.encode(header_version) + body.encode(version) + bytes(left_over)


def _mask(group: Group, tags_too: bool) -> bool:
    """Mask a struct and those in it. tags_too: unknown tags may be secrets of a new kind."""
    found = False
    for name in type(group).fields:
        value: Any = getattr(group, name)
        if is_secret(group, name) and value:
            setattr(group, name, _blank(value))
            found = True
        elif isinstance(value, Group):
            found |= _mask(value, tags_too)
        elif isinstance(value, list):
            for one in value:
                found |= _mask(one, tags_too)
    if tags_too and group.unknown_tags:
        group.unknown_tags = {tag: bytes(len(data)) for tag, data in group.unknown_tags.items()}
        found = True
    return found


def _blank(value: Any) -> Any:
    """A value of the same length on the wire that says nothing."""
    match value:
        case bytes():
            return bytes(len(value))
        case str():
            return "*" * len(value.encode())
        case list():
            for one in value:
                _blank_strings(one)
    return value


def _blank_strings(group: Group) -> None:
    for name in type(group).fields:
        value: Any = getattr(group, name)
        if isinstance(value, (str, bytes)):
            setattr(group, name, _blank(value))


def _mask_fetch(response: FetchResponse) -> bool:
    found = False
    for topic in response.responses:
        if is_metadata_topic(topic.topic, topic.topic_id):
            for partition in topic.partitions:
                if partition.records:
                    masked = mask_metadata_log(partition.records)
                    found |= masked != partition.records
                    partition.records = masked
    return found


def _mask_snapshot(response: FetchSnapshotResponse) -> bool:
    found = False
    for topic in response.topics:
        for partition in topic.partitions:
            if partition.unaligned_records:
                masked = mask_metadata_log(partition.unaligned_records)
                found |= masked != partition.unaligned_records
                partition.unaligned_records = masked
    return found


def mask_metadata_log(data: bytes) -> bytes:
    """Record batches of the metadata log without secrets. CannotMask where there are half ones."""
    out = []
    end = 0
    for batch in read_batches(data):
        if not isinstance(batch, RecordBatch):
            raise CannotMask("a batch of an old format in the metadata log")
        out.append(batch.data if batch.is_control else _mask_batch(batch))
        end += batch.size
    if end != len(data):
        raise CannotMask("a batch of the metadata log is cut")
    return b"".join(out)


def _mask_batch(batch: RecordBatch) -> bytes:
    data = batch.data
    for record in batch.records():
        if not record.value:
            continue
        found = read_metadata_record(record.value)
        if isinstance(found.record, OpaqueRecord) or not mask_message(found.record):
            continue
        masked = found.encode()
        if batch.compression or len(masked) != len(record.value) or record.value not in data:
            raise CannotMask("a secret in a compressed batch of the metadata log")
        data = data.replace(record.value, masked)
    if data == batch.data:
        return data
    return data[:_CRC] + crc32c(memoryview(data)[CHECKED:]).to_bytes(4, "big") + data[CHECKED:]
