"""Tokens of OAUTHBEARER: signed ones (RFC 7515, by PyJWT), and unsigned ones for tests."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from binascii import Error as Base64Error
from typing import TYPE_CHECKING, Any, Protocol

from kwire.controller.authentication.token_claims import (
    ClaimRules,
    Subject,
    WrongToken,
    check_claims,
)
from kwire.errors import InvalidValue
from kwire.extras import pip_line

if TYPE_CHECKING:
    from jwt import PyJWK

TOKEN_LIMIT = 64 * 1024
"""Characters of the longest token: it is read before anybody has authenticated."""

_PARTS = 3
_ALGORITHMS = {
    "RSA": ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    "EC": ("ES256", "ES384", "ES512"),
    "OKP": ("EdDSA",),
}
"""Algorithms by the type of key, so that no public key is taken for a shared secret."""


class TokenValidator(Protocol):
    """Accepts tokens."""

    def subject(self, token: str, now: int) -> Subject:
        """Return the subject of a token. now: milliseconds since 1970. Raises WrongToken."""
        ...


class SignedTokens:
    """Accepts tokens that one of the keys has signed.

    key_set: a JSON Web Key Set (RFC 7517). Raises InvalidValue if it has no usable key, or if the
    library that checks signatures is missing.
    """

    def __init__(self, key_set: str, rules: ClaimRules) -> None:
        try:
            from jwt import PyJWKSet
            from jwt.exceptions import PyJWTError
        except ImportError:
            raise InvalidValue(f"OAUTHBEARER needs PyJWT: {pip_line('security')}") from None
        try:
            keys = PyJWKSet.from_json(key_set).keys
        except (PyJWTError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidValue(f"it is no JSON Web Key Set: {error}") from None
        self._keys = [key for key in keys if _algorithms(key)]
        if not self._keys:
            raise InvalidValue("it has no public key of RSA, EC or EdDSA")
        self._rules = rules

    def subject(self, token: str, now: int) -> Subject:
        """Return the subject of a signed token.

        1. The key is the one that the token names, or else any that fits its algorithm.
        2. The signature is that key's.
        3. The claims are as expected.
        """
        header = _object(_part(token, 0), "header")
        # 1.
        for key in self._candidates(header):
            # 2.
            payload = _verified(token, key)
            if payload is not None:
                # 3.
                return check_claims(_object(payload, "payload"), self._rules, now)
        raise WrongToken("no key has signed it")

    def _candidates(self, header: dict[str, Any]) -> list[PyJWK]:
        algorithm, id = header.get("alg"), header.get("kid")
        fitting = [key for key in self._keys if algorithm in _algorithms(key)]
        return [key for key in fitting if id is None or key.key_id == id]


class UnsignedTokens:
    """Accepts tokens that nobody has signed: anybody may claim to be anybody, as in Kafka's tests.

    Java: OAuthBearerUnsecuredValidatorCallbackHandler.
    """

    def __init__(self, rules: ClaimRules) -> None:
        self._rules = rules

    def subject(self, token: str, now: int) -> Subject:
        """Return the subject of a token without a signature."""
        if _object(_part(token, 0), "header").get("alg") != "none" or not token.endswith("."):
            raise WrongToken("it is signed, and unsigned ones are expected")
        return check_claims(_object(_part(token, 1), "payload"), self._rules, now)


def _algorithms(key: PyJWK) -> tuple[str, ...]:
    return _ALGORITHMS.get(key.key_type or "", ())


def _verified(token: str, key: PyJWK) -> bytes | None:
    """Return the payload; None if the key has not signed it."""
    from jwt import PyJWS
    from jwt.exceptions import PyJWTError

    try:
        payload = PyJWS().decode(token, key.key, algorithms=_algorithms(key))
    except (PyJWTError, ValueError, TypeError, RecursionError):
        return None
    assert isinstance(payload, bytes)
    return payload


def _part(token: str, index: int) -> bytes:
    parts = token.split(".", _PARTS)
    if len(token) > TOKEN_LIMIT or len(parts) != _PARTS:
        raise WrongToken("it is no JSON Web Token")
    part = parts[index]
    try:
        return urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except (Base64Error, ValueError):
        raise WrongToken("it is not in Base64") from None


def _object(data: bytes, what: str) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise WrongToken(f"its {what} is no JSON") from None
    if not isinstance(value, dict):
        raise WrongToken(f"its {what} is no JSON object")
    return value
