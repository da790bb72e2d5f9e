"""SaslAuthenticate, API key 36."""

from __future__ import annotations

from kwire.codec.declaration import Request, Response
from kwire.codec.notation import binary, int16, int64, nullable, since, string


class SaslAuthenticateRequest(
    Request, key=36, versions="0-2", flexible="2+", listeners="broker controller"
):
    """A client sends the next token of its SASL exchange (KIP-152)."""

    auth_bytes: bytes = binary


class SaslAuthenticateResponse(Response, key=36, versions="0-2", flexible="2+"):
    """The server sends its next SASL token, or says why it rejects the client (KIP-152)."""

    error_code: int = int16
    error_message: str | None = nullable(string)
    auth_bytes: bytes = binary
    session_lifetime_ms: int = since(1, int64, ignorable=True)
