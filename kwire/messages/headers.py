"""The headers before the body of every request and response."""

from __future__ import annotations

from kwire.codec.declaration import Header
from kwire.codec.notation import classic, int16, int32, nullable, since, string


class RequestHeader(Header, versions="0-2", flexible="2+"):
    """Opens every request: which API and version follows, who sends it, how to match it."""

    request_api_key: int = int16
    request_api_version: int = int16
    correlation_id: int = int32
    client_id: str | None = since(1, nullable(classic(string)), ignorable=True)


class ResponseHeader(Header, versions="0-1", flexible="1+"):
    """Opens every response and says which request of the connection it answers."""

    correlation_id: int = int32
