"""SASL where the listener wants none (KIP-43, KIP-152)."""

from __future__ import annotations

from kwire.codec.declaration import Request
from kwire.conform.check import CheckSection, exchange
from kwire.conform.checks.security.sasl import ILLEGAL_STATE
from kwire.conform.expectation import answers
from kwire.conform.server import Server
from kwire.conform.vocabulary import Skipped, kip
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest

SECTION = CheckSection("security/plaintext", "SASL at a listener that wants none")


def _without_sasl(server: Server, request: Request) -> Request:
    if server.target.security.sasl is not None or server.target.ends_early:
        raise Skipped("it needs a listener without SASL")
    return request


SECTION[1] = exchange(
    "SaslHandshake gets ILLEGAL_SASL_STATE where the listener has no SASL.",
    kip(43, "Public Interfaces"),
    send=lambda server: _without_sasl(server, SaslHandshakeRequest(mechanism="PLAIN")),
    expect=answers(ILLEGAL_STATE),
)
SECTION[2] = exchange(
    "SaslAuthenticate gets ILLEGAL_SASL_STATE where the listener has no SASL.",
    kip(152, "Public Interfaces"),
    send=lambda server: _without_sasl(server, SaslAuthenticateRequest(auth_bytes=b"x")),
    expect=answers(ILLEGAL_STATE),
)
