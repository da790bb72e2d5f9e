"""Tokens for SASL/OAUTHBEARER, kept until they are nearly over (KIP-255, KIP-768).

They come from a source in token_sources.py.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from base64 import urlsafe_b64decode
from dataclasses import dataclass, field
from typing import Protocol, Self

from kwire.errors import LocalError
from kwire.text.times import moment

TOKEN_LIMIT = 64 * 1024
"""Bytes of a token, and of the answer that holds it."""

RENEWAL_SHARE = 0.8
"""Of a token's lifetime, after which another one is fetched: sasl.login.refresh.window.factor."""

_TOKEN = re.compile(r"[-_~+/.A-Za-z0-9]+=*")
"""The characters of a token (RFC 6750, 2.1). Others would end the field that it is sent in."""


class TokenUnavailable(LocalError):
    """No token could be had to authenticate with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BearerToken:
    """A token. acquired, expires: seconds since 1970; expires is None where nothing says it."""

    value: str = field(repr=False)
    acquired: float
    expires: float | None = None

    @classmethod
    def parse(cls, text: str, source: object, *, expires_in: object = None) -> Self:
        """Read a token; its lifetime is the JWT's own, else `expires_in` seconds.

        Raises TokenUnavailable, which names the source and never the token.
        """
        value, now = text.strip(), time.time()
        if len(value) > TOKEN_LIMIT or not _TOKEN.fullmatch(value):
            raise TokenUnavailable(f"{source} gives no token: it holds characters no token has")
        expires = _expiry(value)
        if expires is None and (lifetime := _number(expires_in)) is not None:
            expires = now + lifetime
        if expires is not None and expires <= now:
            at = _moment(expires)
            raise TokenUnavailable(f"{source} gives a token that expired{at}: have it renewed")
        return cls(value=value, acquired=now, expires=expires)

    @property
    def is_fresh(self) -> bool:
        """True while it need not be renewed; never for a token of unknown lifetime."""
        if self.expires is None:
            return False
        return time.time() < self.acquired + RENEWAL_SHARE * (self.expires - self.acquired)

    @property
    def is_valid(self) -> bool:
        """True if it is known not to have expired."""
        return self.expires is not None and time.time() < self.expires


class TokenSource(Protocol):
    """Gives tokens; `str()` of it is for errors."""

    async def fetch(self) -> BearerToken:
        """Return another token. Raises TokenUnavailable, BadTls."""
        ...


class BearerTokens:
    """The tokens of one source, shared by all connections of a client."""

    def __init__(self, source: TokenSource) -> None:
        self.source = source
        self._token: BearerToken | None = None
        self._fetching: asyncio.Task[BearerToken] | None = None

    async def current(self) -> BearerToken:
        """Return a token that is valid for a while.

        1. A token is used again for the most of its lifetime.
        2. Later, or if its lifetime is not known, another one is fetched; all that wait share it.
        3. If that fails, the last one is used as long as it is valid.

        Raises TokenUnavailable, BadTls.
        """
        # 1.
        token = self._token
        if token is not None and token.is_fresh:
            return token
        # 2. A task of its own: a caller that is cancelled must not take it from the others.
        try:
            self._token = await asyncio.shield(self._fetch())
        except LocalError:
            # 3.
            if token is None or not token.is_valid:
                raise
            return token
        return self._token

    def _fetch(self) -> asyncio.Task[BearerToken]:
        loop, task = asyncio.get_running_loop(), self._fetching
        if task is None or task.done() or task.get_loop() is not loop:
            task = self._fetching = loop.create_task(self.source.fetch())
            task.add_done_callback(_retrieve)
        return task


def _retrieve(task: asyncio.Task[BearerToken]) -> None:
    """Take the failure of a task for which perhaps nobody waits any more."""
    if not task.cancelled():
        task.exception()


def token_of_json(body: bytes, source: object) -> BearerToken:
    """Read the answer of a token endpoint (RFC 6749, 5.1). Raises TokenUnavailable."""
    try:
        answer = json.loads(body)
    except ValueError:  # UnicodeDecodeError is one, too
        raise TokenUnavailable(f"{source} answers something else than JSON") from None
    except RecursionError:
        raise TokenUnavailable(f"{source} answers JSON that is nested too deep") from None
    token = answer.get("access_token") if isinstance(answer, dict) else None
    if not isinstance(token, str) or not token.strip():
        raise TokenUnavailable(f"{source} answers without an access_token")
    return BearerToken.parse(token, source, expires_in=answer.get("expires_in"))


def _expiry(token: str) -> float | None:
    """Return the `exp` of a JWT; None for any other token."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims = json.loads(urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, RecursionError):
        return None
    return _number(claims.get("exp")) if isinstance(claims, dict) else None


def _number(value: object) -> float | None:
    """Return a number that can be a time in seconds, else None; JSON's numbers are unbounded."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e12:
        return None
    return float(value)


def _moment(seconds: float) -> str:
    time = moment(seconds)
    return f" on {time:%Y-%m-%d %H:%M:%S} UTC" if time else ""
