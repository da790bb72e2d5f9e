"""A client's part of SASL, without the connection.

KIP-43, KIP-84, KIP-152, KIP-368; KIP-48 for delegation tokens, KIP-255 for OAUTHBEARER.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from kwire.codec.declaration import Request, Response
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError, InvalidValue
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kwire.text.untrusted import harmless

if TYPE_CHECKING:
    from kwire.net.bearer_token import BearerTokens


class Mechanism(StrEnum):
    """The SASL mechanisms that kwire has."""

    PLAIN = "PLAIN"
    SCRAM_SHA_256 = "SCRAM-SHA-256"
    SCRAM_SHA_512 = "SCRAM-SHA-512"
    OAUTHBEARER = "OAUTHBEARER"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """The user, password and mechanism of a login.

    is_delegation_token: True if they are the id and the HMAC of a delegation token, for SCRAM.
    tokens, extensions: of OAUTHBEARER, in place of user and password.
    """

    mechanism: Mechanism
    username: str = ""
    password: str = field(default="", repr=False)
    is_delegation_token: bool = False
    tokens: BearerTokens | None = field(default=None, repr=False)
    extensions: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def subject(self) -> str:
        """The user as errors name it."""
        return self.username or "the token"

    async def resolved(self) -> Credentials:
        """Return credentials whose password is a current token of `tokens`, if there are any.

        Raises TokenUnavailable, BadTls.
        """
        if self.tokens is None:
            return self
        return replace(self, password=(await self.tokens.current()).value)


class Login:
    """One authentication: send `request` and hand the answer to `receive`, until it is None.

    1. SaslHandshake: the node takes the mechanism, or names its own.
    2. SaslAuthenticate, one for each token of the mechanism.

    peer: what errors call the node. lifetime: seconds after which it wants another login, 0 for
    never (KIP-368). Credentials must be resolved. Raises InvalidValue for a name or password that
    the mechanism cannot take.
    """

    def __init__(self, credentials: Credentials, peer: str = "the node") -> None:
        self._credentials = credentials
        self._peer = peer
        self._tokens = _MECHANISMS[credentials.mechanism](credentials)
        self._first = next(self._tokens)
        self.request: Request | None = SaslHandshakeRequest(mechanism=credentials.mechanism)
        self.lifetime = 0.0

    def receive(self, response: Response) -> None:
        """Take an answer. Raises BrokerError where the node refuses, or is not what it claims."""
        if isinstance(response, SaslHandshakeResponse):
            # 1.
            self._check_mechanism(response)
            self.request = SaslAuthenticateRequest(auth_bytes=self._first)
            return
        # 2.
        assert isinstance(response, SaslAuthenticateResponse), "nothing else is asked"
        self._check_accepted(response)
        self.lifetime = response.session_lifetime_ms / 1000
        try:
            token = self._tokens.send(response.auth_bytes)
        except StopIteration:
            self.request = None
        except _WrongToken as error:
            reason = f"{self._peer} does not speak {self._credentials.mechanism} as it should: "
            code = ErrorCode.SASL_AUTHENTICATION_FAILED
            raise BrokerError(code, reason + harmless(str(error))) from None
        else:
            self.request = SaslAuthenticateRequest(auth_bytes=token)

    def _check_mechanism(self, response: SaslHandshakeResponse) -> None:
        if response.error_code and response.mechanisms:
            offered = harmless(", ".join(response.mechanisms))
            reason = f"has no {self._credentials.mechanism}, but {offered}"
            raise BrokerError(response.error_code, f"{self._peer} {reason}")
        if response.error_code:
            raise BrokerError(response.error_code, f"{self._peer} takes no SASL at this listener")

    def _check_accepted(self, response: SaslAuthenticateResponse) -> None:
        if response.error_code:
            who = f"{self._credentials.subject} by {self._credentials.mechanism}"
            why = harmless(response.error_message or "it gives no reason")
            raise BrokerError(response.error_code, f"{self._peer} refuses {who}: {why}")


class _WrongToken(Exception):
    """The node's token is not what the mechanism prescribes."""


Tokens = Generator[bytes, bytes, None]
"""Yields the tokens that a mechanism sends, and is sent the answers; ends with the login."""


def _plain(credentials: Credentials) -> Tokens:
    """Authenticate by PLAIN (RFC 4616)."""
    if "\0" in credentials.username + credentials.password:
        raise InvalidValue("PLAIN takes no name and no password with a NUL in it")
    yield f"\0{credentials.username}\0{credentials.password}".encode()


def _scram(credentials: Credentials) -> Tokens:
    """Authenticate by SCRAM; the node proves itself, too."""
    from kwire.net.scram import BadScram, can_name, scram_exchange

    name, password = credentials.username, credentials.password
    if not can_name(name):
        raise InvalidValue(f"{credentials.mechanism} takes only names of ASCII characters")
    # The node looks the password up among tokens (KIP-48). Both sides sign the extension.
    extensions = ",tokenauth=true" if credentials.is_delegation_token else ""
    try:
        yield from scram_exchange(credentials.mechanism, name, password, extensions=extensions)
    except BadScram as error:
        raise _WrongToken(str(error)) from None


def _oauth_bearer(credentials: Credentials) -> Tokens:
    """Authenticate by OAUTHBEARER (RFC 7628).

    A node that refuses the token says why in JSON, and the error follows when it was acknowledged.
    """
    pairs = {"auth": f"Bearer {credentials.password}", **dict(credentials.extensions)}
    fields = "".join(f"{name}={value}\1" for name, value in pairs.items())
    reason = yield f"n,,\1{fields}\1".encode()
    if reason:
        yield b"\1"
        raise _WrongToken(f"it refuses the token ({_excerpt(reason)}) and goes on")


def _excerpt(reason: bytes) -> str:
    return reason[:300].decode("utf-8", "replace")


_MECHANISMS: Mapping[Mechanism, Callable[[Credentials], Tokens]] = {
    Mechanism.PLAIN: _plain,
    Mechanism.SCRAM_SHA_256: _scram,
    Mechanism.SCRAM_SHA_512: _scram,
    Mechanism.OAUTHBEARER: _oauth_bearer,
}
