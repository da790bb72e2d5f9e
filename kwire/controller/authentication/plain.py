"""PLAIN: users and passwords of the configuration (RFC 4616; Java: PlainSaslServer)."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from hmac import compare_digest

from kwire.controller.authentication.exchanges import (
    Authenticated,
    AuthenticationFailed,
    LoginExchange,
    invalid_credentials,
)

PARTS = 3


class PlainMechanism:
    """Compares passwords. passwords: by user."""

    def __init__(self, passwords: Mapping[str, str]) -> None:
        self._passwords = {user: _digest(password) for user, password in passwords.items()}

    def exchange(self, now: int) -> LoginExchange:
        """Authenticate by one token.

        1. The token is an identity to act for, which may be empty, a user and a password.
        2. The password is that of the user; an unknown user costs the same time.
        3. The identity to act for is the user's own.
        """
        token = yield b""
        # 1.
        parts = token.decode("utf-8", "replace").split("\0", PARTS)
        if len(parts) != PARTS:
            raise AuthenticationFailed(f"A token of PLAIN has 3 parts, not {len(parts)}")
        acts_for, user, password = parts
        if not user or not password:
            raise AuthenticationFailed("A token of PLAIN needs a user and a password")
        # 2.
        expected = self._passwords.get(user)
        matches = compare_digest(_digest(password), expected or _digest(""))
        if expected is None or not matches:
            raise invalid_credentials("PLAIN")
        # 3.
        if acts_for not in ("", user):
            raise AuthenticationFailed("A user may act for no other")
        return Authenticated(principal=f"User:{user}")


def _digest(password: str) -> bytes:
    """Return bytes of one length, so that a comparison does not tell the password's."""
    return sha256(password.encode("utf-8", "surrogatepass")).digest()
