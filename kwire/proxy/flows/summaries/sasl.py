"""Authentication: the mechanism, how long its tokens are, and how it ends; never what they say."""

from __future__ import annotations

from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.text import size_text


def sasl_handshake(flow: DecodedFlow) -> str | None:
    """Return `SCRAM-SHA-256`, or the error and the mechanisms there are."""
    request = flow.request_as(SaslHandshakeRequest)
    if request is None:
        return None
    response = flow.response_as(SaslHandshakeResponse)
    if response is not None and flow.errors:
        known = " ".join(response.mechanisms)
        return f"{request.mechanism}: {', '.join(flow.errors)}, there are {known}"
    bare = ", bare tokens follow" if flow.flow.version == 0 else ""
    return f"{request.mechanism}{bare}"


def sasl_authenticate(flow: DecodedFlow) -> str | None:
    """Return `token of 84 B → 96 B` with the error, or with the session's lifetime."""
    request = flow.request_as(SaslAuthenticateRequest)
    if request is None:
        return None
    text = f"token of {size_text(len(request.auth_bytes))}"
    response = flow.response_as(SaslAuthenticateResponse)
    if response is None:
        return text
    if flow.errors:
        why = f" ({response.error_message})" if response.error_message else ""
        return f"{text}: {', '.join(flow.errors)}{why}"
    lifetime = response.session_lifetime_ms
    session = f", for {lifetime / 1000:g} s" if lifetime else ""
    return f"{text} → {size_text(len(response.auth_bytes))}{session}"
