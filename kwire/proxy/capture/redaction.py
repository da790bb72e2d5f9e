"""Removal of secrets from frames before they are written, without changing their length.

SASL tokens, delegation token HMACs, SCRAM secrets and sensitive configs become zeros and asterisks,
also inside envelopes (KIP-590) and in the metadata log's records. A frame that may hold a secret
and cannot be masked is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from crc32c import crc32c

from kwire.batches import Budget, RecordBatch, read_batches
from kwire.batches.current import CHECKED
from kwire.batches.metadata_records import OpaqueRecord, read_metadata_record
from kwire.capture.record import LEFT_OUT, MASKED_FIELDS
from kwire.codec.declaration import Group, Message
from kwire.errors import KwireError, TooLarge, WireError
from kwire.messages.a01_fetch import FetchResponse
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.messages.a59_fetch_snapshot import FetchSnapshotResponse
from kwire.messages.headers import RequestHeader, ResponseHeader
from kwire.messages.index import APIS
from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID, metadata_logs
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
"""APIs whose frames are always decoded; of Fetch and FetchSnapshot those of the metadata log."""

PLAIN_APIS = frozenset(APIS) - SECRET_APIS - {_FETCH, _FETCH_SNAPSHOT}
"""APIs whose frames have no secrets, whatever is in them."""

_CRC = CHECKED - 4
_METADATA_MARKS = (METADATA_TOPIC.encode(), METADATA_TOPIC_ID.bytes)
_SEARCHED = 4 * 1024  # bytes of a response, whose topic is among the first 40 in every version


class CannotMask(WireError):
    """There may be a secret in bytes that cannot be changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """The frames of a flow as they may be written. *_redaction: None if the frame is unchanged."""

    request: bytes | None
    response: bytes | None
    request_redaction: str | None = None
    response_redaction: str | None = None


def is_plain(flow: Flow) -> bool:
    """True if no secret can be in the frames of a flow, so that none has to be masked."""
    return flow.key not in SECRET_APIS and not of_metadata_log(flow)


def redacted(flow: Flow) -> Redacted:
    """Return the frames of a flow without secrets."""
    request, response = flow.request_copy, flow.response_copy
    if is_plain(flow):
        return Redacted(request=request, response=response)
    inner = _inner_head(flow)
    request, request_redaction = _mask_request(request, flow.request_size)
    response, response_redaction = _mask_response(
        response, flow.response_size or 0, flow.key, flow.version, inner
    )
    return Redacted(
        request=request,
        response=response,
        request_redaction=request_redaction,
        response_redaction=response_redaction,
    )


def mask_message(message: Message) -> bool:
    """Mask the secrets of a message in place; return True if it had any. Raises CannotMask."""
    masked = may_hold_secrets(type(message)) and _mask(message, holds_secrets(message))
    if isinstance(message, FetchResponse):
        masked |= _mask_fetch(message)
    if isinstance(message, FetchSnapshotResponse):
        masked |= _mask_snapshot(message)
    return masked


def of_metadata_log(flow: Flow) -> bool:
    """True if the response has records of the metadata log, which names it by name or id.

    Nodes serve them only if the request names that topic and no other (KafkaRaftClient's
    hasValidTopicPartition). So the response begins with the topic, and the beginning of a long one
    is enough to search.
    """
    if flow.key != _FETCH:
        return flow.key == _FETCH_SNAPSHOT
    request, response = flow.request_copy or b"", flow.response_copy or b""
    response = response[:_SEARCHED]
    # Written out: every Fetch passes here.
    name, id = _METADATA_MARKS
    return name in response or id in response or name in request or id in request


def _inner_head(flow: Flow) -> RequestHead | None:
    """Return the head of the request in an Envelope, None if there is none."""
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
    return _with_redaction(frame, masked)


def _mask_response(
    frame: bytes | None, size: int, key: int, version: int, inner: RequestHead | None
) -> tuple[bytes | None, str | None]:
    if frame is None:
        return None, None
    try:
        masked = mask_response(frame, key, version, inner) if len(frame) == size else None
    except KwireError:
        masked = None
    return _with_redaction(frame, masked)


def _with_redaction(frame: bytes, masked: bytes | None) -> tuple[bytes | None, str | None]:
    if masked is None or len(masked) != len(frame):
        return None, LEFT_OUT
    return masked, None if masked == frame else MASKED_FIELDS


def mask_request(frame: bytes) -> bytes:
    """Return a request without its secrets, in the same length. Raises KwireError."""
    request = decode_request(frame)
    header, body, version = request.header, request.body, request.version
    changed = mask_message(body)
    if isinstance(body, EnvelopeRequest):
        inner = mask_request(body.request_data)
        changed |= inner != body.request_data
        body.request_data = inner
    if not changed and not request.left_over:
        return frame
    header_version = request_header_version(header.request_api_key, version)
    return _encode(header, header_version, body, version, request.left_over)


def mask_response(frame: bytes, key: int, version: int, inner: RequestHead | None = None) -> bytes:
    """Return a response without its secrets, in the same length. Raises KwireError.

    inner: the head of the request in the Envelope that it answers.
    """
    response = decode_response(frame, key, version)
    body = response.body
    changed = mask_message(body)
    if isinstance(body, EnvelopeResponse) and body.response_data is not None:
        if inner is None:
            raise CannotMask("the request in the envelope is not known")
        masked = mask_response(body.response_data, inner.key, inner.version)
        changed |= masked != body.response_data
        body.response_data = masked
    if not changed and not response.left_over:
        return frame
    header_version = response_header_version(key, version)
    return _encode(response.header, header_version, body, response.version, response.left_over)


def _encode(
    header: RequestHeader | ResponseHeader,
    header_version: int,
    body: Message,
    version: int,
    left_over: int,
) -> bytes:
    # Bytes behind the message, which no schema explains, may be secrets: they become zeros.
    return header.encode(header_version) + body.encode(version) + bytes(left_over)


def _mask(group: Group, tags_too: bool) -> bool:
    """Mask a struct and the structs in it; return True if anything was masked.

    tags_too: mask unknown tags as well, which may be secrets of a later version.
    """
    masked = False
    for name in type(group).fields:
        value: Any = getattr(group, name)
        if is_secret(group, name) and value:
            setattr(group, name, _blank(value))
            masked = True
        elif isinstance(value, Group):
            masked |= _mask(value, tags_too)
        elif isinstance(value, list):
            for element in value:
                masked |= _mask(element, tags_too)
    if tags_too and group.unknown_tags:
        group.unknown_tags = {tag: bytes(len(data)) for tag, data in group.unknown_tags.items()}
        masked = True
    return masked


def _blank(value: Any) -> Any:
    """Return a value of the same length on the wire without content."""
    match value:
        case bytes():
            return bytes(len(value))
        case str():
            return "*" * len(value.encode())
        case list():
            for element in value:
                _blank_strings(element)
    return value


def _blank_strings(group: Group) -> None:
    for name in type(group).fields:
        value: Any = getattr(group, name)
        if isinstance(value, (str, bytes)):
            setattr(group, name, _blank(value))


def _mask_fetch(response: FetchResponse) -> bool:
    changed = False
    logs = metadata_logs(response)
    budget = Budget.of_frame(sum(len(log.records or b"") for log in logs))
    for log in logs:
        masked = mask_metadata_log(log.records or b"", budget)
        changed |= masked != log.records
        log.records = masked
    return changed


def _mask_snapshot(response: FetchSnapshotResponse) -> bool:
    changed = False
    pieces = [piece for topic in response.topics for piece in topic.partitions]
    budget = Budget.of_frame(sum(len(piece.unaligned_records) for piece in pieces))
    for piece in pieces:
        masked = mask_metadata_log(piece.unaligned_records, budget)
        changed |= masked != piece.unaligned_records
        piece.unaligned_records = masked
    return changed


def mask_metadata_log(data: bytes, budget: Budget) -> bytes:
    """Return batches of the metadata log without secrets; zeros where they are over the budget.

    Raises CannotMask if one is cut.
    """
    try:
        return _mask_batches(data, budget)
    except TooLarge:
        return bytes(len(data))


def _mask_batches(data: bytes, budget: Budget) -> bytes:
    masked = []
    end = 0
    for batch in read_batches(data):
        if not isinstance(batch, RecordBatch):
            raise CannotMask("a batch of an old format in the metadata log")
        masked.append(batch.data if batch.is_control else _mask_batch(batch, budget))
        end += batch.size
    if end != len(data):
        raise CannotMask("a batch of the metadata log is cut")
    return b"".join(masked)


def _mask_batch(batch: RecordBatch, budget: Budget) -> bytes:
    data = batch.data
    for record in budget.read(batch):
        if not record.value:
            continue
        metadata = read_metadata_record(record.value)
        if isinstance(metadata.record, OpaqueRecord) or not mask_message(metadata.record):
            continue
        masked = metadata.encode()
        # The length must stay: sizes in a capture are those of the traffic. If masked bytes were
        # compressed again, it would change.
        if batch.compression or len(masked) != len(record.value) or record.value not in data:
            raise CannotMask("a secret in a compressed batch of the metadata log")
        data = data.replace(record.value, masked)
    if data == batch.data:
        return data
    # With a right CRC the masked batch decodes like any other.
    return data[:_CRC] + crc32c(memoryview(data)[CHECKED:]).to_bytes(4, "big") + data[CHECKED:]
