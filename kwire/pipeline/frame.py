"""One captured frame, decoded, encoded again, and told of in values for columns."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from kwire.codec.declaration import Message
from kwire.codec.engine import Engine
from kwire.errors import EncodeError, KwireError
from kwire.messages.headers import RequestHeader, ResponseHeader
from kwire.messages.registry import request, response
from kwire.net.frames import (
    body_version,
    request_head,
    request_header_version,
    response_header_version,
)
from kwire.pipeline.body import json, mend, mending, printable
from kwire.proxy.flows.walk import failures

STATUSES = DECODED, CUT, ABSENT, UNDECODABLE = "DECODED", "CUT", "ABSENT", "UNDECODABLE"


class Finding(NamedTuple):
    """What a frame says; the columns of `frames` of the same names, and its body as JSON.

    wire_correlation_id: of the header. Without the frame, or where it does not decode, all but
    status and error are null; body is null too where nobody wants it. A notice has no status.
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


def read_frame(
    frame: bytes | None,
    size: int | None,
    key: int | None,
    version: int | None,
    is_request: bool,
    *,
    bodies: bool = True,
) -> Finding:
    """What is in a frame of this API and version; nothing about it raises. bodies: as JSON, too."""
    if frame is None:
        return Finding(ABSENT, "the frame is not in the capture")
    if size is not None and len(frame) < size:
        return Finding(CUT, f"{len(frame)} of {size} bytes are in the capture")
    if key is None or version is None:
        return Finding(UNDECODABLE, "the API of the frame is not known")
    try:
        return _read(frame, key, version, is_request, bodies)
    except KwireError as error:
        return Finding(UNDECODABLE, printable(str(error)))
    except Exception as error:  # a fault of the codec must not cost the job: it is a row
        return Finding(UNDECODABLE, printable(f"kwire failed with {error!r}"))


def _read(frame: bytes, key: int, version: int, is_request: bool, bodies: bool) -> Finding:
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
    try:
        identical = headers.encode(header) + messages.encode(body) == frame
    except EncodeError:
        identical = False
    records_bytes = mend(body, mending(type(body), bodies))
    return Finding(
        DECODED,
        None,
        len(frame) - end,
        version,
        identical,
        [] if is_request else _errors(body),
        records_bytes,
        getattr(body, "max_wait_ms", None),
        header.correlation_id,
        json(body) if bodies else None,
    )


@cache
def _headers(key: int, version: int, is_request: bool) -> Engine:
    if is_request:
        return RequestHeader.engine(request_header_version(key, version))
    return ResponseHeader.engine(response_header_version(key, version))


@cache
def _messages(key: int, version: int, is_request: bool) -> Engine:
    return (request(key) if is_request else response(key)).engine(version)


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
