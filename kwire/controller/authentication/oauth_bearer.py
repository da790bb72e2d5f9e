"""OAUTHBEARER: tokens of an authorization server (RFC 7628, KIP-255, KIP-768)."""

from __future__ import annotations

import logging
import re

from kwire.controller.authentication.exchanges import (
    Authenticated,
    AuthenticationFailed,
    LoginExchange,
)
from kwire.controller.authentication.token_claims import WrongToken
from kwire.controller.authentication.token_validators import TOKEN_LIMIT, TokenValidator

log = logging.getLogger(__name__)

PAIRS_LIMIT = 64
"""Pairs of a message: the token, and extensions."""

REFUSAL = b'{"status":"invalid_token"}'
_AUTHORIZATION = re.compile(r"(\w+) +([-_~+/.a-zA-Z0-9]+=*)")
_KEY = re.compile(r"[A-Za-z]+")
_VALUE = re.compile(r"[\x21-\x7e \t\r\n]+")
_END = "\1"


class OAuthBearerMechanism:
    """Asks a validator who a token is for."""

    def __init__(self, validator: TokenValidator) -> None:
        self._validator = validator

    def exchange(self, now: int) -> LoginExchange:
        """Authenticate by one token.

        1. The first message has the token, and extensions, which have no effect here.
        2. A token that is not accepted is refused in JSON; when the client has acknowledged that,
           the login has failed.
        3. The identity to act for, if there is one, is the token's own.
        """
        # 1.
        acts_for, token = _parse((yield b""))
        try:
            subject = self._validator.subject(token, now)
        except WrongToken as error:
            # 2.
            log.info("a token of OAUTHBEARER is refused: %s", error)
            yield REFUSAL
            raise AuthenticationFailed(REFUSAL.decode()) from None
        # 3.
        if acts_for not in ("", subject.name):
            raise AuthenticationFailed("The token is for another than the client acts for")
        return Authenticated(principal=f"User:{subject.name}", expires_at=subject.expires_at)


def _parse(message: bytes) -> tuple[str, str]:
    """Return the identity to act for and the token of `n,[a=NAME],^ANAME=VALUE^A...^A`."""
    if len(message) > 2 * TOKEN_LIMIT:
        raise _malformed()
    header, *pairs = message.decode("utf-8", "replace").split(_END, PAIRS_LIMIT + 2)
    flag, _, rest = header.partition(",")
    acts_for, comma, excess = rest.partition(",")
    is_header = flag == "n" and comma and not excess and acts_for[:2] in ("", "a=")
    if not is_header or pairs[-2:] != ["", ""]:
        raise _malformed()
    values = {}
    for pair in pairs[:-2]:
        name, _, value = pair.partition("=")
        if not _KEY.fullmatch(name) or not _VALUE.fullmatch(value):
            raise _malformed()
        values[name] = value
    match = _AUTHORIZATION.fullmatch(values.get("auth", ""))
    if match is None or match[1].lower() != "bearer":
        raise _malformed()
    name = acts_for[2:].replace("=2C", ",").replace("=3D", "=")
    return name, match[2]


def _malformed() -> AuthenticationFailed:
    return AuthenticationFailed("A token is not what OAUTHBEARER prescribes")
