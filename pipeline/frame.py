"""One captured frame, decoded, encoded again, and told of in values for columns."""

from __future__ import annotations

from typing import Any, NamedTuple

from kwire.declaration import Message
from kwire.errors import EncodeError, KwireError
from kwire.frames import (
    RequestFrame,
    ResponseFrame,
    decode_request,
    decode_response,
    request_header_version,
    response_header_version,
)
from pipeline.body import Mended, json, mend, mending, printable
from proxy.walk import failures

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
        if is_request:
            return _found(
                decode_request(frame), request_header_version(key, version), frame, bodies
            )
        decoded = decode_response(frame, key, version)
        return _found(decoded, response_header_version(key, version), frame, bodies)
    except KwireError as error:
        return Finding(UNDECODABLE, printable(str(error)))
    except Exception as error:  # a fault of the codec must not cost the job: it is a row
        return Finding(UNDECODABLE, printable(f"kwire failed with {error!r}"))


def _found(
    decoded: RequestFrame | ResponseFrame, header_version: int, frame: bytes, bodies: bool
) -> Finding:
    body = decoded.body
    identical = _encoded(decoded, header_version) == frame
    errors: list[dict[str, Any]] = []
    found = Mended()
    mend(body, mending(type(body), bodies), found)
    if found.failed and isinstance(decoded, ResponseFrame):
        errors = _errors(body)
    return Finding(
        DECODED,
        None,
        decoded.left_over,
        decoded.version,
        identical,
        errors,
        found.records_bytes,
        getattr(body, "max_wait_ms", None),
        decoded.header.correlation_id,
        json(body) if bodies else None,
    )


def _encoded(decoded: RequestFrame | ResponseFrame, header_version: int) -> bytes | None:
    try:
        return decoded.header.encode(header_version) + decoded.body.encode(decoded.version)
    except EncodeError:
        return None


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
