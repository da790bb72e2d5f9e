"""The login of one client's connection: when it is wanted, when it is over, and whose it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from math import inf

from kwire.controller.authentication.sasl_authenticator import (
    HANDSHAKE,
    ListenerMechanism,
    SaslAuthenticator,
    SaslStep,
)
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError
from kwire.net.frames import request_head
from kwire.net.service import ANONYMOUS

SHORTEST_SESSION = 1.0
"""Seconds between two logins of a connection, at least."""

LOGIN = 30.0
"""Seconds for a login, or to the first request where there is none; Kafka gives them
connections.max.idle.ms."""


class ClientSession:
    """One connection; each frame goes to the login or to the service.

    principal: of a client without SASL. mechanisms: of the listener; None without SASL.
    login_limit, frame_limit: bytes of a frame before and after the login. now: returns milliseconds
    since 1970. deadline: the loop's time at which the connection is to end, unless its login, or
    its first request where there is no login, is complete; None when it is.
    """

    def __init__(
        self,
        mechanisms: Mapping[str, ListenerMechanism] | None,
        *,
        principal: str = ANONYMOUS,
        login_limit: int,
        frame_limit: int,
        now: Callable[[], int],
    ) -> None:
        self._sasl = None if mechanisms is None else SaslAuthenticator(mechanisms)
        self._peer_principal = principal
        self._login_limit = login_limit
        self._frame_limit = frame_limit
        self._now = now
        self._ends = inf
        self._renewed = -inf
        self.deadline: float | None = asyncio.get_running_loop().time() + LOGIN

    @property
    def principal(self) -> str:
        """The principal of the requests, as `User:alice`."""
        done = self._sasl.authenticated if self._sasl else None
        return done.principal if done else self._peer_principal

    @property
    def by_delegation_token(self) -> bool:
        """True if the client has logged in with a delegation token."""
        done = self._sasl.authenticated if self._sasl else None
        return bool(done and done.by_delegation_token)

    @property
    def frame_limit(self) -> int:
        """Bytes of the largest frame that the client may send now."""
        return self._frame_limit if self.is_open else self._login_limit

    @property
    def is_open(self) -> bool:
        """True if requests are to be served."""
        return self._sasl is None or self._sasl.is_complete

    def login_step(self, frame: bytes) -> SaslStep | None:
        """Take a frame if it belongs to a login; return None if it is for the service.

        1. A login that is under way gets every frame.
        2. SaslHandshake begins another one, if sessions end here and the last one began a second
           ago (KIP-368). Else the service refuses it.
        3. Any other request in a session that is over ends the connection.

        Raises SaslFailure, and BrokerError in the last case.
        """
        sasl = self._sasl
        if sasl is None:
            self.deadline = None
            return None
        time = asyncio.get_running_loop().time()
        # 1.
        if not sasl.is_complete:
            return self._step(sasl, frame, time)
        # 2.
        is_handshake = request_head(frame).key == HANDSHAKE
        if is_handshake and self._ends < inf and time >= self._renewed + SHORTEST_SESSION:
            self._renewed = time
            self.deadline = time + LOGIN
            sasl.begin_again()
            return self._step(sasl, frame, time)
        # 3.
        if time >= self._ends and not is_handshake:
            raise BrokerError(ErrorCode.SASL_AUTHENTICATION_FAILED, "its session is over")
        return None

    def versions_answered(self, answer: bytes) -> None:
        """Go on with the login after ApiVersions."""
        if self._sasl is not None:
            self._sasl.versions_answered(answer)

    def _step(self, sasl: SaslAuthenticator, frame: bytes, time: float) -> SaslStep:
        step = sasl.receive(frame, self._now())
        if sasl.is_complete:
            self.deadline = None
            self._ends = inf if sasl.lifetime_ms is None else time + sasl.lifetime_ms / 1000
        return step
