"""Envelope: the requests of clients that brokers forward (KIP-590)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from kwire.codec.declaration import Group, Request, Response
from kwire.controller.handlers.acl_filters import has_unknown_elements
from kwire.controller.handlers.frames import answer_frame, request_frame, valid_text
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError, DecodeError, FrameError, UnsupportedVersion
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.messages.data.default_principal_data import DefaultPrincipalData
from kwire.messages.forwarding import FORWARDABLE

_SIZE_PREFIX = 4
_ADDRESS_SIZES = (4, 16)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardedRequest:
    """A client's request, as a broker received it.

    principal: as `User:ANONYMOUS`. by_delegation_token: it logged in with a delegation token. host:
    the client's address.
    """

    request: Request
    version: int
    correlation_id: int
    client_id: str | None
    principal: str
    by_delegation_token: bool
    host: str


def opened(envelope: EnvelopeRequest) -> ForwardedRequest:
    """Return the request in an envelope. Raises ApiError:

    1. A principal that cannot be read: PRINCIPAL_DESERIALIZATION_FAILURE.
    2. A client's address that has neither 4 nor 16 bytes: INVALID_REQUEST.
    3. An API or version that is not known: UNSUPPORTED_VERSION; bytes that are no request, or an
       API that brokers do not forward, or UNKNOWN elements of ACLs: INVALID_REQUEST.
    """
    # 1.
    principal = _principal(envelope.request_principal)
    # 2.
    if len(envelope.client_host_address) not in _ADDRESS_SIZES:
        text = f"A client's address of {len(envelope.client_host_address)} bytes is none."
        raise ApiError(ErrorCode.INVALID_REQUEST, text)
    # 3.
    try:
        frame = request_frame(envelope.request_data)
    except UnsupportedVersion as error:
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION, str(error)) from None
    except (DecodeError, FrameError) as error:
        raise ApiError(ErrorCode.INVALID_REQUEST, str(error)) from None
    if frame.header.request_api_key not in FORWARDABLE:
        text = f"API {frame.header.request_api_key} is not forwarded."
        raise ApiError(ErrorCode.INVALID_REQUEST, text)
    if has_unknown_elements(frame.body):
        raise ApiError(ErrorCode.INVALID_REQUEST, "The request has UNKNOWN elements.")
    return ForwardedRequest(
        request=frame.body,
        version=frame.version,
        correlation_id=frame.header.correlation_id,
        client_id=frame.header.client_id,
        principal=valid_text(f"{principal.type}:{principal.name}"),
        by_delegation_token=principal.token_authenticated,
        host=str(ip_address(envelope.client_host_address)),
    )


def sealed(forwarded: ForwardedRequest, response: Response) -> EnvelopeResponse:
    """Return the envelope of a response.

    NOT_CONTROLLER stands on the envelope itself, so that the broker tries another controller.
    """
    if ErrorCode.NOT_CONTROLLER in _error_codes(response):
        return refused(ErrorCode.NOT_CONTROLLER)
    frame = answer_frame(response, forwarded.version, correlation_id=forwarded.correlation_id)
    return EnvelopeResponse(response_data=frame[_SIZE_PREFIX:])


def refused(code: ErrorCode) -> EnvelopeResponse:
    """Return the answer if the envelope itself, or the node that it went to, is wrong."""
    return EnvelopeResponse(error_code=code)


def _principal(data: bytes | None) -> DefaultPrincipalData:
    try:
        version = int.from_bytes((data or b"")[:2], "big")
        return DefaultPrincipalData.decode((data or b"")[2:], version)
    except (DecodeError, UnsupportedVersion) as error:
        raise ApiError(ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE, str(error)) from None


def _error_codes(part: Any) -> Iterator[int]:
    """Yield every error code in a response."""
    for name in type(part).fields:
        value = getattr(part, name)
        if name == "error_code":
            yield value
        elif isinstance(value, Group):
            yield from _error_codes(value)
        elif isinstance(value, list):
            for item in value:
                yield from _error_codes(item)
