"""Requests that one node passes on for a client, in an Envelope (KIP-590)."""

from __future__ import annotations

from ipaddress import ip_address

from kwire.messages.a58_envelope import EnvelopeRequest
from kwire.messages.data.default_principal_data import DefaultPrincipalData

FORWARDABLE = frozenset(
    {19, 20, 30, 31, 33, 37, 38, 39, 40, 43, 44, 45, 46, 49, 51, 55, 57, 64, 67, 80, 81, 94}
)
"""The keys of the APIs whose requests brokers forward (Java: ApiKeys.forwardable)."""

_PRINCIPAL_VERSION = 0


def envelope(
    request: bytes, principal: str, host: str, *, by_delegation_token: bool = False
) -> EnvelopeRequest:
    """Return the envelope of a request, its header and body as bytes.

    principal: of the client, as `User:alice`. by_delegation_token: it logged in with a delegation
    token. host: its IP address. Raises ValueError for a host that is none.
    """
    kind, _, name = principal.partition(":")
    data = DefaultPrincipalData(type=kind, name=name, token_authenticated=by_delegation_token)
    version = _PRINCIPAL_VERSION
    return EnvelopeRequest(
        request_data=request,
        # Java: DefaultKafkaPrincipalBuilder.serialize, which writes the version before the data.
        request_principal=version.to_bytes(2, "big") + data.encode(version),
        client_host_address=ip_address(host).packed,
    )
