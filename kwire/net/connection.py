"""One asyncio connection to a Kafka node: the only client connection there is.

Requests may overlap (pipelining). What needs no socket is in exchange.py, negotiation.py and
sasl.py.
"""

from __future__ import annotations

import asyncio
from errno import ECONNREFUSED
from math import inf
from socket import gaierror
from ssl import SSLError
from typing import TYPE_CHECKING, Self, cast

from kwire.codec.declaration import Request, Response
from kwire.error_codes import ErrorCode
from kwire.errors import (
    AnswerLost,
    BrokerError,
    ConnectionFailed,
    ConnectTimedOut,
    FrameError,
    KwireError,
    LoginWanted,
    WireError,
)
from kwire.messages.a18_api_versions import ApiVersionsResponse
from kwire.net.exchange import Exchange
from kwire.net.frames import FRAME_LIMIT
from kwire.net.link import Link
from kwire.net.negotiation import NodeApiVersions, api_versions_request, fall_back

if TYPE_CHECKING:
    from ssl import SSLContext

    from kwire.net.sasl import Credentials

CONNECT_TIMEOUT = 5.0
"""Seconds until a connection is open: name lookup, TCP, TLS, ApiVersions and SASL together."""

REQUEST_TIMEOUT = 30.0
"""Seconds until a request is answered: the default of Kafka's request.timeout.ms."""

SESSION_SHARE = 0.85
"""Of a session's lifetime, after which it is renewed; Java's clients wait up to a tenth longer."""


class Connection:
    """A connection that is open and negotiated; made by `Connection.open`, used in `async with`.

    node: what the peer said in its ApiVersions answer. peer: its `host:port`.
    """

    def __init__(
        self, peer: str, link: Link, request_timeout: float, sasl: Credentials | None = None
    ) -> None:
        self.peer = peer
        self.node = NodeApiVersions(api_versions={})
        self._link = link
        self._request_timeout = request_timeout
        self._sasl = sasl
        self._session_ends = inf
        self._authenticating = asyncio.Lock()
        self._has_answered = False
        self._rests_until = -inf

    @classmethod
    async def open(
        cls,
        host: str,
        port: int,
        *,
        client_id: str | None = "kwire",
        ssl: SSLContext | None = None,
        server_hostname: str | None = None,
        sasl: Credentials | None = None,
        connect_timeout: float = CONNECT_TIMEOUT,
        setup_timeout: float = inf,
        request_timeout: float = REQUEST_TIMEOUT,
        frame_limit: int = FRAME_LIMIT,
    ) -> Self:
        """Connect, negotiate and authenticate, all within `connect_timeout` seconds.

        setup_timeout: seconds for the name of the host and TCP, where no TLS follows. Each of the
        later steps has request_timeout.

        1. TCP, and TLS when a context is given; the certificate must be for `server_hostname`, by
           default the host.
        2. ApiVersions in the highest version; error 35 leads down to v0 (KIP-511).
        3. SASL when there are credentials.

        A token for OAUTHBEARER is fetched before, in time of its own.

        Raises ConnectionFailed where no node answers, WireError where something else does,
        BrokerError if the node refuses, TokenUnavailable if there is no token.
        """
        peer = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        link = Link(peer, Exchange(client_id=client_id, frame_limit=frame_limit))
        self = cls(peer, link, request_timeout, sasl)
        resolved = None if sasl is None else await sasl.resolved()
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(connect_timeout):
                name = server_hostname if ssl else None
                # 1.
                async with asyncio.timeout(None if ssl or setup_timeout == inf else setup_timeout):
                    await loop.create_connection(
                        lambda: link, host, port, ssl=ssl, server_hostname=name
                    )
                # 2.
                async with asyncio.timeout(request_timeout):
                    self.node = await self._negotiate()
                # 3.
                if resolved is not None:
                    await self._authenticate(resolved)
        except BaseException as error:
            link.abort()
            if isinstance(error, TimeoutError):
                awaited = "SASL" if self.node.api_versions else "ApiVersions"
                raise _silent(peer, link.connected, awaited, loop.time() - began) from None
            # A host with a NUL, which a request may name, is a ValueError.
            is_bad_host = isinstance(error, ValueError) and not isinstance(error, KwireError)
            if is_bad_host or isinstance(error, AnswerLost | WireError | OSError | OverflowError):
                raise _failed(peer, error, with_tls=ssl is not None) from error
            raise
        return self

    async def _negotiate(self) -> NodeApiVersions:
        request = api_versions_request()
        version = type(request).versions.last
        response = cast(ApiVersionsResponse, await self._ask(request, version))
        while response.error_code == ErrorCode.UNSUPPORTED_VERSION:
            version = fall_back(version, response)
            response = cast(ApiVersionsResponse, await self._ask(request, version))
        if response.error_code:
            raise BrokerError(response.error_code, f"{self.peer} refused ApiVersions v{version}")
        return NodeApiVersions.of(response)

    async def renegotiate(self, timeout: float) -> None:
        """Ask ApiVersions anew: a node that has just started learns its cluster's features later.

        Raises BrokerError if the node refuses, and what `send` raises.
        """
        request = api_versions_request()
        response = cast(ApiVersionsResponse, await self.send(request, timeout=timeout))
        if response.error_code:
            raise BrokerError(response.error_code, f"{self.peer} refused ApiVersions")
        self.node = NodeApiVersions.of(response)

    async def _authenticate(self, sasl: Credentials) -> None:
        from kwire.net.sasl import Login  # commands without SASL start faster

        login = Login(sasl, self.peer)
        try:
            while login.request is not None:
                login.receive(await self._ask(login.request))
        except AnswerLost as error:
            raise ConnectionFailed(str(error)) from error
        ends = asyncio.get_running_loop().time() + SESSION_SHARE * login.lifetime
        self._session_ends = ends if login.lifetime else inf

    async def _renew_session(self) -> None:
        """Authenticate again where the session is nearly over, and let all requests wait for it."""
        loop = asyncio.get_running_loop()
        if self._sasl is None or loop.time() < self._session_ends:
            return
        async with self._authenticating:
            if loop.time() >= self._session_ends:
                try:
                    await self._authenticate(await self._sasl.resolved())
                except BaseException:
                    self._link.abort()  # a node takes nothing else before it is done
                    raise

    async def _ask(self, request: Request, version: int | None = None) -> Response:
        chosen = self.version_for(type(request)) if version is None else version
        response = (await self._link.send(request, chosen)).body
        if throttle_ms := getattr(response, "throttle_time_ms", 0):
            self._rests_until = asyncio.get_running_loop().time() + throttle_ms / 1000
        return response

    async def _rest(self, limit: float) -> None:
        """Leave the node alone for its throttle time (KIP-219), unless that is over the limit."""
        left = self._rests_until - asyncio.get_running_loop().time()
        if left > limit:
            raise ConnectionFailed(
                f"{self.peer} throttles this client for {left:.1f} s: its quota there is used up"
            )
        if left > 0:
            await asyncio.sleep(left)

    def version_for(self, request: type[Request]) -> int:
        """Return the highest version that both sides have.

        Raises UnsupportedVersion naming both.
        """
        return self.node.version_for(request, self.peer)

    async def send(
        self, request: Request, version: int | None = None, timeout: float | None = None
    ) -> Response:
        """Return the answer to a request; error codes in it are the caller's to judge.

        version: by default the highest that both sides have; a given one is not held against what
        the node offers, so that it can be tried out.
        timeout: seconds, by default the connection's. Whoever stops waiting, by this or by
        cancellation, leaves the connection in order: the late answer is dropped.

        Raises UnsupportedVersion and EncodeError before a byte is sent, ConnectionFailed when the
        connection is closed or throttled beyond the timeout, AnswerLost when it closes or time
        runs out, WireError for an answer that cannot be read.
        """
        chosen = self.version_for(type(request)) if version is None else version
        limit = self._request_timeout if timeout is None else timeout
        await self._rest(limit)
        try:
            async with asyncio.timeout(limit):
                await self._renew_session()
                response = await self._ask(request, chosen)
                self._has_answered = True
                return response
        except AnswerLost as error:
            if self._has_answered or self._sasl is not None:
                raise
            # ApiVersions is answered before a login, and anything else ends the connection.
            raise LoginWanted(
                f"{error}, its first after ApiVersions: if the listener wants a login, give SASL"
            ) from error
        except TimeoutError:
            name = type(request).__name__.removesuffix("Request")
            raise AnswerLost(
                f"{self.peer} did not answer {name} v{chosen} within {limit:.1f} s: it is slow, or"
                " does not answer this"
            ) from None

    async def send_unanswered(self, request: Request, version: int) -> None:
        """Send a request that gets no answer: Produce with acks=0. Raises as `send` does."""
        await self._rest(self._request_timeout)
        await self._renew_session()
        await self._link.send_unanswered(request, version)

    @property
    def idle(self) -> bool:
        """True if nobody waits for a response."""
        return self._link.idle

    @property
    def closed(self) -> bool:
        """True if it can be used no more, whoever closed it."""
        return self._link.closed

    async def close(self) -> None:
        """End it; requests still open raise AnswerLost. May be called again."""
        await self._link.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()


_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", None)
"""OpenSSL's reasons where what answers is no TLS, or nothing answers."""


def _silent(peer: str, connected: bool, awaited: str, seconds: float) -> ConnectTimedOut:
    silent = f"{peer} accepted the connection but did not answer {awaited} within {seconds:.1f} s"
    if connected and awaited == "SASL":
        return ConnectTimedOut(f"{silent}: it is slow, or the service that checks its logins is")
    if connected:
        return ConnectTimedOut(f"{silent}: it is slow, or no Kafka listener, or it wants TLS")
    return ConnectTimedOut(
        f"{peer} could not be connected to within {seconds:.1f} s:"
        " it is slow, or the address is wrong, or a firewall is between"
    )


def _failed(peer: str, error: BaseException, *, with_tls: bool) -> KwireError:
    if isinstance(error, AnswerLost):
        return ConnectionFailed(
            f"{peer} closed the connection instead of answering ApiVersions: check that it is a"
            " Kafka listener, and whether it wants TLS"
        )
    if isinstance(error, WireError):
        return FrameError(
            f"{error}: {peer} does not speak Kafka's protocol; check the port, and whether it wants"
            " TLS"
        )
    # Where a name has several addresses, the errors come as the text of one.
    if isinstance(error, ConnectionRefusedError) or f"[Errno {ECONNREFUSED}]" in str(error):
        return ConnectionFailed(
            f"{peer} refused the connection: nothing listens there;"
            " start the node, or check the address"
        )
    # A certificate that is refused is a ValueError, too.
    if isinstance(error, gaierror) or not isinstance(error, OSError | OverflowError):
        return ConnectionFailed(f"{peer} cannot be resolved: check the name of the host")
    if isinstance(error, SSLError) or (with_tls and isinstance(error, ConnectionError)):
        from kwire.net.tls import handshake_failure

        text = f"{peer} {handshake_failure(error)}"
        if isinstance(error, SSLError) and error.reason not in _NO_TLS:
            return ConnectionFailed(text)
        # Kafka's plain listeners take the handshake for a frame of 369 MB, and hang up.
        return ConnectionFailed(f"{text}: if it is a plain listener, connect without TLS")
    return ConnectionFailed(f"{peer} cannot be reached: {error}")
