"""SaslHandshake, API key 17."""

from __future__ import annotations

from kwire.codec.declaration import Request, Response
from kwire.codec.notation import array, int16, string


class SaslHandshakeRequest(Request, key=17, versions="0-1", listeners="broker controller"):
    """A client proposes the SASL mechanism to authenticate with (KIP-43)."""

    mechanism: str = string


class SaslHandshakeResponse(Response, key=17, versions="0-1"):
    """The server takes up the proposed SASL mechanism, or lists those it knows (KIP-43)."""

    error_code: int = int16
    mechanisms: tuple[str, ...] = array(string)
