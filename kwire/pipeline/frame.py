"""One captured frame, decoded and encoded again, as values for columns."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from kwire.codec.declaration import Message
from kwire.codec.engine import Engine
from kwire.errors import EncodeError, KwireError
from kwire.messages.a00_produce import ProduceRequest
from kwire.messages.a01_fetch import FetchResponse
from kwire.messages.a58_envelope import EnvelopeRequest
from kwire.messages.headers import RequestHeader, ResponseHeader
from kwire.messages.registry import request, response
from kwire.net.frames import (
    body_version,
    request_head,
    request_header_version,
    response_header_version,
)
from kwire.pipeline.body import id_text, json, printable, replace_fields, replacements
from kwire.proxy.capture.redaction import mask_message, mask_request
from kwire.proxy.flows.masks import may_hold_secrets
from kwire.proxy.flows.walk import failures, has_failures
from kwire.text.ids import ZERO_UUID

STATUSES = DECODED, CUT, ABSENT, UNDECODABLE = "DECODED", "CUT", "ABSENT", "UNDECODABLE"

_NO_ERRORS: list[dict[str, Any]] = []
"""Of most messages: one list for all of them, which nobody changes."""

_TOPIC_FIELDS: dict[type[Message], tuple[str, str, str]] = {
    ProduceRequest: ("topic_data", "name", "partition_data"),
    FetchResponse: ("responses", "topic", "partitions"),
}
"""Of the messages with record batches by topic: their topics, and these' names and partitions."""


class DecodedColumns(NamedTuple):
    """The columns of `frames` that come from a frame's bytes, and its body as JSON.

    wire_correlation_id: of the header. Without the frame, or if it does not decode, all but status
    and error are null; body is null, too, if bodies are left out. A notice has no status.
    topics: see TOPICS; null for all messages but two. named_cluster: the cluster id in the message.
    """

    status: str | None
    error: str | None = None
    left_over: int | None = None
    body_version: int | None = None
    identical: bool | None = None
    errors: list[dict[str, Any]] | None = None
    records_bytes: int | None = None
    max_wait_ms: int | None = None
    wire_correlation_id: int | None = None
    body: str | None = None
    topics: list[dict[str, Any]] | None = None
    named_cluster: str | None = None


def read_frame(
    frame: bytes | None,
    size: int | None,
    key: int | None,
    version: int | None,
    is_request: bool,
    *,
    bodies: bool = True,
) -> DecodedColumns:
    """Decode a frame of this API and version; never raise, whatever is in it.

    bodies: True for its body as JSON.
    """
    if frame is None:
        return DecodedColumns(ABSENT, "the frame is not in the capture")
    if size is not None and len(frame) < size:
        return DecodedColumns(CUT, f"{len(frame)} of {size} bytes are in the capture")
    if key is None or version is None:
        return DecodedColumns(UNDECODABLE, "the API of the frame is not known")
    try:
        return _read(frame, key, version, is_request, bodies)
    except KwireError as error:
        return DecodedColumns(UNDECODABLE, printable(str(error)))
    except Exception as error:  # a fault of the codec must not cost the job: it is a row
        return DecodedColumns(UNDECODABLE, printable(f"kwire failed with {error!r}"))


def _read(frame: bytes, key: int, version: int, is_request: bool, bodies: bool) -> DecodedColumns:
    if is_request:
        head = request_head(frame)
        key, version = head.key, head.version
    headers = _headers(key, version, is_request)
    header, offset = headers.decode(frame, 0)
    if not is_request:
        version = body_version(frame, offset, key, version)
    messages = _messages(key, version, is_request)
    body: Message
    body, end = messages.decode(frame, offset)
    # The round trip proves that no field was lost; the table `verdicts` tells where it fails.
    try:
        identical = headers.encode(header) + messages.encode(body) == frame
    except EncodeError:
        identical = False
    if bodies:
        _mask_secrets(body)
    topics = _topic_bytes(body)  # before the record batches are taken out
    records_bytes = replace_fields(body, replacements(type(body), bodies))
    return DecodedColumns(
        DECODED,
        None,
        len(frame) - end,
        version,
        identical,
        _errors(body) if not is_request and has_failures(body) else _NO_ERRORS,
        records_bytes,
        getattr(body, "max_wait_ms", None),
        header.correlation_id,
        json(body) if bodies else None,
        topics,
        printable(getattr(body, "cluster_id", None) or None),
    )


@cache
def _headers(key: int, version: int, is_request: bool) -> Engine:
    if is_request:
        return RequestHeader.engine(request_header_version(key, version))
    return ResponseHeader.engine(response_header_version(key, version))


@cache
def _messages(key: int, version: int, is_request: bool) -> Engine:
    return (request(key) if is_request else response(key)).engine(version)


def _mask_secrets(body: Message) -> None:
    """Mask the secrets of a message, which are in recordings of --show-secrets. Raises KwireError.

    Records are left out anyway. The API of an Envelope's response is not known here.
    """
    if may_hold_secrets(type(body)):
        mask_message(body)
    elif isinstance(body, EnvelopeRequest):
        body.request_data = mask_request(body.request_data)


def _errors(body: Message) -> list[dict[str, Any]]:
    return [
        {
            "path": failure.path,
            "code": failure.code,
            "name": failure.name,
            "message": printable(failure.message),
        }
        for failure in failures(body)
    ]


def _topic_bytes(body: Message) -> list[dict[str, Any]] | None:
    """Return TOPICS of a message with its record batches; None if it is neither of the two."""
    fields = _TOPIC_FIELDS.get(type(body))
    if fields is None:
        return None
    topics, name, partitions = fields
    counts: list[dict[str, Any]] = []
    for topic in getattr(body, topics):
        count = 0
        for partition in getattr(topic, partitions):
            if partition.records:
                count += len(partition.records)
        if count:
            id_ = None if topic.topic_id == ZERO_UUID else id_text(topic.topic_id)
            title = printable(getattr(topic, name)) or None
            counts.append({"topic": title, "topic_id": id_, "records_bytes": count})
    return counts
