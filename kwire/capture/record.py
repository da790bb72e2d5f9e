"""One record of a capture: a request, a response, or a notice about a connection."""

from __future__ import annotations

import msgspec

REQUEST = "REQUEST"
RESPONSE = "RESPONSE"
NOTICE = "NOTICE"

MASKED_FIELDS = "fields"
"""The frame was written again without its secrets; the rest of it is what passed."""

LEFT_OUT = "frame"
"""The frame is not in the capture: it may hold secrets and could not be masked."""

ANONYMIZED = "names"
"""The frame was written again with other names and without contents."""


class CaptureRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One frame, or one notice.

    capture: the id of the recording. connection: counts from 1 in one recording. node_id: the node
    behind the proxy, peer_id: the client where it is a node itself, None where not known. client,
    upstream: `host:port`. kind: REQUEST, RESPONSE or NOTICE. api_key, api_version: the request's,
    in its response too. event: counts from 0 in one recording; a request and its response share
    it. at_us: microseconds of Unix time at the frame's head. monotonic_ns: the same moment on a
    clock that never steps. size: bytes on the wire without the four of the size itself. frame: as
    many of them as were copied, None where none were. redaction: None where the frame is as it
    passed, else MASKED_FIELDS, LEFT_OUT or ANONYMIZED. ending, problems, notes, deeds: what became
    of a request. notice, text: what a notice is about, and its sentence.
    """

    capture: str
    connection: int
    node_id: int | None = None
    peer_id: int | None = None
    client: str
    upstream: str
    kind: str
    api_key: int | None = None
    api_version: int | None = None
    client_id: str | None = None
    event: int
    at_us: int
    monotonic_ns: int
    correlation_id: int | None = None
    size: int | None = None
    frame: bytes | None = None
    redaction: str | None = None
    ending: str | None = None
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    deeds: tuple[str, ...] = ()
    notice: str | None = None
    text: str | None = None

    @property
    def truncated(self) -> int:
        """Bytes of the frame that are not here."""
        return max(0, (self.size or 0) - len(self.frame or b""))
