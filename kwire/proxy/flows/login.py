"""The SASL login of a client, as its node answered it (KIP-43, KIP-152, KIP-368).

A client has logged in when its node has answered the last token of an exchange without an error. No
other answer counts: a node also answers, with errors, requests of clients whom it does not know.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse

LEAST_VERSIONS: Mapping[int, int] = {
    SaslHandshakeRequest.key or 0: 1,
    SaslAuthenticateRequest.key or 0: 1,
}
"""The API key and lowest version by which a login is seen: SaslHandshake v0 leaves tokens without a
header behind it, and SaslAuthenticate v0 does not tell when the session ends."""

# Java: ScramMessages.ClientFirstMessage, without the reserved extension `m`. Nothing else is read,
# so that a name is never another one here than at the node.
_NAME = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
_CLIENT_FIRST = re.compile(
    rf"n,(?:a=(?P<acts_for>{_NAME}))?,n=(?P<name>{_NAME}),r=[\x21-\x2b\x2d-\x7e]+"
    r"(?P<extensions>(?:,[A-Za-z]+=[\x01-\x2b\x2d-\x7f]+)*)"
)
_SERVER_FINAL = b"v="
_PLAIN_PARTS = 3
_MOST_ROUNDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The name that a client has proved.

    user: None where only the node knows it. token_id: of the delegation token in place of a user
    (KIP-48). ends: the credentials end by themselves, so that a session always has an end.
    """

    user: str | None = None
    token_id: str | None = None
    ends: bool = False


@dataclass(frozen=True, slots=True)
class _Round:
    """A token of the client, and what the node answered to it."""

    token: bytes = field(repr=False)
    answer: bytes = field(repr=False)


class ObservedLogin:
    """The login of one connection. identity: of whom the node has let in; see `is_in`.

    Times are seconds of one steady clock.
    """

    def __init__(self) -> None:
        self.identity: Identity | None = None
        self._read: _Read | None = None
        self._rounds: tuple[_Round, ...] = ()
        self._end: float | None = None

    def is_in(self, now: float) -> bool:
        """True while the session of a login lasts."""
        return self.identity is not None and (self._end is None or now < self._end)

    def begin(self) -> None:
        """Forget the login before: the client sends SaslHandshake, and proves all again."""
        self.identity = self._read = self._end = None
        self._rounds = ()

    def handshake_answered(
        self, version: int, request: SaslHandshakeRequest, response: SaslHandshakeResponse
    ) -> None:
        """Expect tokens, if the node takes up the mechanism and its exchange can be followed."""
        self.begin()
        if not response.error_code and version >= 1:
            self._read = _MECHANISMS.get(request.mechanism)

    def token_answered(
        self,
        version: int,
        request: SaslAuthenticateRequest,
        response: SaslAuthenticateResponse,
        asked: float,
    ) -> None:
        """Take the answer to a token. asked: when the token came.

        1. An error ends the login, and what was before it.
        2. The last token of the exchange lets the client in, until the session ends. A lifetime of
           0 is none, or one that is over where credentials end (Java: SaslServerAuthenticator,
           calcCompletionTimesAndReturnSessionLifetimeMs).
        """
        read, rounds = self._read, self._rounds
        self.begin()
        # 1.
        if response.error_code or read is None or version < 1:
            return
        rounds += (_Round(request.auth_bytes, response.auth_bytes),)
        identity = read(rounds)
        if identity is None and len(rounds) < _MOST_ROUNDS:
            self._read, self._rounds = read, rounds
        # 2. From the token on, which is before the node's own count begins.
        elif identity is not None:
            self.identity = identity
            if response.session_lifetime_ms or identity.ends:
                self._end = asked + response.session_lifetime_ms / 1000


_Read = Callable[[tuple[_Round, ...]], Identity | None]
"""Returns whom an exchange has let in; None if it is not complete, or cannot be understood."""


def _plain(rounds: tuple[_Round, ...]) -> Identity | None:
    """One token: an identity to act for, a user and a password (Java: PlainSaslServer)."""
    if len(rounds) != 1:
        return None
    try:
        parts = rounds[0].token.decode().split("\0")
    except UnicodeDecodeError:
        return None
    if len(parts) != _PLAIN_PARTS or not parts[1] or parts[0] not in ("", parts[1]):
        return None
    return Identity(user=parts[1])


def _scram(rounds: tuple[_Round, ...]) -> Identity | None:
    """Two tokens; the answer to the second proves that the exchange is complete (RFC 5802).

    The extension `tokenauth=true` makes the name that of a delegation token (KIP-48).
    """
    if len(rounds) != 2 or not rounds[1].answer.startswith(_SERVER_FINAL):
        return None
    first = _CLIENT_FIRST.fullmatch(rounds[0].token.decode("latin-1"))
    if first is None or first["acts_for"] not in (None, first["name"]):
        return None
    name = first["name"].replace("=2C", ",").replace("=3D", "=")
    by_token = [
        value.lower()
        for key, _, value in (part.partition("=") for part in first["extensions"].split(","))
        if key == "tokenauth"
    ]
    if not by_token:
        return Identity(user=name)
    return Identity(token_id=name, ends=True) if by_token == ["true"] else None


def _oauth_bearer(rounds: tuple[_Round, ...]) -> Identity | None:
    """One token, answered by nothing: text in the answer is the reason for a refusal (RFC 7628).

    Which claim names the user is a setting of the node's, sasl.oauthbearer.sub.claim.name.
    """
    if len(rounds) != 1 or rounds[0].answer:
        return None
    return Identity(ends=True)


_MECHANISMS: Mapping[str, _Read] = {
    "PLAIN": _plain,
    "SCRAM-SHA-256": _scram,
    "SCRAM-SHA-512": _scram,
    "OAUTHBEARER": _oauth_bearer,
}
"""The mechanisms whose end is seen in their tokens. Whoever uses another one is not let in here."""
