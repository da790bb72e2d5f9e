"""The exchange of tokens between a client and a SASL mechanism of this server."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Authenticated:
    """The end of a successful exchange.

    principal: as `User:alice`. last: the server's last token. expires_at: milliseconds since 1970
    at which the credentials end; None for never. by_delegation_token: the owner of a delegation
    token is the principal (KIP-48).
    """

    principal: str
    last: bytes = b""
    expires_at: int | None = None
    by_delegation_token: bool = False


class AuthenticationFailed(Exception):
    """A client is not who it claims to be. The text goes to the client, and holds no secret."""


LoginExchange = Generator[bytes, bytes, Authenticated]
"""Is sent the client's tokens, after a first `next`; yields the server's, and returns at the end.

Raises AuthenticationFailed.
"""


class ServerMechanism(Protocol):
    """One SASL mechanism of a listener."""

    def exchange(self, now: int) -> LoginExchange:
        """Begin an authentication. now: milliseconds since 1970."""
        ...


def invalid_credentials(mechanism: str) -> AuthenticationFailed:
    """Return the one failure for unknown users and wrong passwords: nobody learns who exists."""
    return AuthenticationFailed(f"Authentication failed: wrong credentials for {mechanism}")
