"""Envelope, API key 58."""

from __future__ import annotations

from kwire.codec.declaration import Request, Response
from kwire.codec.notation import binary, field, int16, nullable


class EnvelopeRequest(Request, key=58, versions="0", flexible="0+", listeners="controller"):
    """A broker forwards a client's request, with its principal, to the controller (KIP-590)."""

    request_data: bytes = binary
    request_principal: bytes | None = nullable(binary)
    client_host_address: bytes = binary


class EnvelopeResponse(Response, key=58, versions="0", flexible="0+"):
    """The controller returns the answer to a forwarded request, still encoded (KIP-590)."""

    response_data: bytes | None = field(nullable(binary), default=None)
    error_code: int = int16
