"""A connection whose bytes are kept, and which can send what no client would.

`kwire.net.connection` negotiates, numbers and checks by itself; a check must be able to break each
of these. TLS and SASL are the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, Self

from kwire.codec.declaration import Request
from kwire.conform.answer import no_frame_text, part_text, read_answer
from kwire.conform.expectation import first_error
from kwire.conform.reaction import ENDINGS, ConnectionState, Reaction
from kwire.conform.transcript import Transcript
from kwire.conform.vocabulary import BrokenAnswer, Deviation, Skipped
from kwire.errors import UnsupportedVersion
from kwire.messages.registry import api_name
from kwire.net.address import Address
from kwire.net.frames import FRAME_LIMIT, encode_request
from kwire.net.negotiation import NodeApiVersions, api_versions_request
from kwire.net.sasl import Login
from kwire.net.security import PLAINTEXT, Security

PATIENCE = 2.0
"""Seconds after which a server that neither answers nor closes counts as silent.

This and every other time is for a server that answers at once: `slowness` multiplies it.
"""
ANSWER_TIMEOUT = 30.0
"""Seconds that an answer may take where a check waits for one."""
OPEN_TIMEOUT = 5.0
"""Seconds for a connection, its TLS and its login."""

_PAUSE = 0.05
_NOT_READY = (14, 15)
"""Error codes of a coordinator that loads, or whose broker is not quite there."""
DRAIN = 0.2
"""Seconds for what comes behind bytes that are no frame, and for the end of a connection."""

_EXCERPT = 1024
_CHUNK = 1 << 16


class CheckedConnection:
    """One connection of a check. Made by `open`; `close` ends it.

    versions: what the server offers, for `ask` without a version and for SKIPPED. state: as it was
    last seen.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        peer: str,
        versions: NodeApiVersions,
        transcript: Transcript,
        slowness: float = 1.0,
    ) -> None:
        self.peer = peer
        self.versions = versions
        self.state = ConnectionState.OPEN
        self.client_id: str | None = "kwire-conform"
        self._reader = reader
        self._writer = writer
        self._transcript = transcript
        self._slowness = slowness
        self._next_id = 1
        self._unanswered = 0
        self._open_again: Callable[[], Awaitable[CheckedConnection]] | None = None

    @classmethod
    async def open(
        cls,
        address: Address,
        *,
        versions: NodeApiVersions,
        transcript: Transcript,
        security: Security = PLAINTEXT,
        login: bool = True,
        timeout: float = OPEN_TIMEOUT,
        slowness: float = 1.0,
    ) -> Self:
        """Connect with TLS if the security has it, and log in if it has SASL and `login` is True.

        slowness: of the server; all times are multiplied by it.

        Raises OSError, TimeoutError, BrokerError.
        """
        tls = security.tls
        async with asyncio.timeout(timeout * slowness):
            reader, writer = await asyncio.open_connection(
                address.host,
                address.port,
                ssl=tls.context() if tls else None,
                server_hostname=(tls.name or address.host) if tls else None,
                limit=1 << 20,
            )
            self = cls(reader, writer, str(address), versions, transcript, slowness)
            if security.sasl is not None and login:
                try:
                    await self.log_in(Login(await security.sasl.resolved(), str(address)))
                except BaseException:
                    await self.close()
                    raise
        self._open_again = partial(
            cls.open,
            address,
            versions=versions,
            transcript=transcript,
            security=security,
            login=login,
            timeout=timeout,
            slowness=slowness,
        )
        return self

    async def renew(self) -> None:
        """Connect anew if it has ended, or if an answer may still come: that of another request.

        Raises what `open` does.
        """
        if self._open_again is None or (
            self.state is ConnectionState.OPEN and not self._unanswered
        ):
            return
        fresh = await self._open_again()
        await self.close()
        self._reader, self._writer = fresh._reader, fresh._writer
        self.state, self._unanswered = ConnectionState.OPEN, 0

    async def log_in(self, login: Login) -> None:
        """Carry out a login of SASL, of which the report has no tokens. Raises BrokerError."""
        with self._transcript.private():
            while login.request is not None:
                version = min(type(login.request).versions.last, 1)
                login.receive(await self.ask(login.request, version))

    def frame(
        self, request: Request, version: int | None = None, *, correlation_id: int | None = None
    ) -> bytes:
        """Return a request as bytes, its size included, to send it as it is or broken.

        A version that there is not has the header and the body of the nearest one.
        """
        chosen = self.version_for(request) if version is None else version
        known = type(request).versions
        nearest = min(max(chosen, known.first), known.last)
        number = self._next_id if correlation_id is None else correlation_id
        self._next_id += 1
        frame = encode_request(request, nearest, correlation_id=number, client_id=self.client_id)
        return frame[:6] + chosen.to_bytes(2, "big", signed=True) + frame[8:]

    def version_for(self, request: Request) -> int:
        """Return the highest version that both have. Raises Skipped."""
        try:
            return self.versions.version_for(type(request), "the server")
        except UnsupportedVersion as error:
            raise Skipped(str(error)) from None

    def version_up_to(self, request: Request, last: int) -> int:
        """Return the highest version that both have and that is not above `last`. Raises Skipped.

        For a field or a rule that later versions have not.
        """
        version = min(self.version_for(request), last)
        if self.versions.api_versions:
            self.demand(type(request), version)
        return version

    def demand(self, request: type[Request], *versions: int) -> None:
        """Raise Skipped unless the server offers these versions of an API."""
        assert request.key is not None
        offered = self.versions.api_versions.get(request.key)
        missing = [version for version in versions if offered is None or version not in offered]
        if offered is None or missing:
            what = api_name(request.key)
            has = f"it has versions {offered}" if offered else "it has none"
            text = f"{what} {' and '.join(f'v{v}' for v in missing)}".rstrip()
            raise Skipped(f"the server does not offer {text}: {has}")

    def demand_since(self, request: type[Request], version: int) -> None:
        """Raise Skipped unless the server offers this version of an API, or a later one."""
        highest = self.version_for(request())
        if highest < version:
            assert request.key is not None
            name = api_name(request.key)
            raise Skipped(f"the server offers {name} up to v{highest}: this begins with v{version}")

    def offered(self, request: type[Request], *, since: int = 0) -> list[int]:
        """Return the versions of an API that both have, without those before `since`.

        Raises Skipped if there is none.
        """
        self.demand(request)
        self.demand_since(request, since)
        offered = self.versions.api_versions[request.key or 0]
        return [v for v in request.versions if v in offered and v >= since]

    async def send(self, data: bytes) -> None:
        """Send bytes as they are; what the server does with them is seen by reading."""
        self._transcript.add(self.peer, data, sent=True)
        self._unanswered += 1
        if self._writer.is_closing():
            return
        with suppress(OSError):  # an end is seen, and told apart, by reading
            self._writer.write(data)
            await self._writer.drain()

    def end_sending(self) -> None:
        """End the client's side of the connection; the server's stays open."""
        with suppress(OSError):
            self._writer.write_eof()

    async def ask(
        self, request: Request, version: int | None = None, timeout: float = ANSWER_TIMEOUT
    ) -> Any:
        """Return the answer to a request, a response of its API, whatever its error codes.

        A version outside what the server offers is SKIPPED; no answer, or one that is none, FAIL.
        """
        if version is not None and self.versions.api_versions:
            self.demand(type(request), version)
        reaction = await self.exchange(request, version, patience=timeout)
        if reaction.body is None or reaction.problem:
            assert type(request).key is not None
            end = BrokenAnswer if reaction.problem else Deviation
            raise end(f"an answer to {api_name(type(request).key or 0)}", str(reaction))
        return reaction.body

    async def ask_coordinator(self, request: Request, version: int | None = None) -> Any:
        """Ask a coordinator, again and again while it says that it is not ready, as clients do."""
        clock = asyncio.get_running_loop().time
        end = clock() + self._seconds(ANSWER_TIMEOUT)
        while True:
            answer = await self.ask(request, version)
            if first_error(answer) not in _NOT_READY or clock() > end:
                return answer
            await asyncio.sleep(_PAUSE)

    async def exchange(
        self, request: Request, version: int | None = None, patience: float | None = None
    ) -> Reaction:
        """Send a request, and return what the server does."""
        chosen = self.version_for(request) if version is None else version
        number = self._next_id
        await self.send(self.frame(request, chosen))
        assert type(request).key is not None
        return await self.reaction(type(request).key or 0, chosen, number, patience)

    async def reaction(
        self, key: int, version: int, correlation_id: int, patience: float | None = None
    ) -> Reaction:
        """Return what the server does next, read as the answer to this request."""
        frame = await self.receive(patience)
        if frame is None:
            return Reaction(connection=self.state, waited=self._transcript.last_wait)
        answer = self._transcript.last_answer = read_answer(frame, key, version, correlation_id)
        return answer

    async def receive(self, patience: float | None = None, *, smallest: int = 1) -> bytes | None:
        """Return the next frame without its size; None if nothing comes, `state` says why.

        smallest: 0 where a frame may be empty, as a token of SASL behind a handshake of v0.
        Raises BrokenAnswer for bytes that are no frame, and for a frame of which a part is missing.
        """
        came = bytearray()
        seconds = self._seconds(patience)
        try:
            async with asyncio.timeout(seconds):
                await self._receive_up_to(4, came)
                size = int.from_bytes(came, "big", signed=True)
                if not smallest <= size <= FRAME_LIMIT:
                    raise BrokenAnswer("a frame", await self._no_frame(bytes(came)))
                await self._receive_up_to(4 + size, came)
            self.state = ConnectionState.OPEN
        except EOFError:
            self.state = ConnectionState.CLOSED
        except TimeoutError:
            self.state = ConnectionState.SILENT
        except OSError:  # a reset, or TLS that ends without its farewell
            self.state = ConnectionState.RESET
        if came:
            self._transcript.add(self.peer, bytes(came), sent=False)
        if self.state is ConnectionState.SILENT:
            self._transcript.add_silence(self.peer, seconds)
        if self.state is ConnectionState.OPEN:
            self._unanswered = max(0, self._unanswered - 1)
            return bytes(came[4:])
        if came:
            silent = self.state is ConnectionState.SILENT
            part = part_text(bytes(came)) + (f", no more within {seconds:.3g} s" if silent else "")
            raise BrokenAnswer("a frame", f"{part}, {ENDINGS[self.state]}")
        return None

    def _seconds(self, patience: float | None) -> float:
        return (PATIENCE if patience is None else patience) * self._slowness

    async def _receive_up_to(self, length: int, came: bytearray) -> None:
        """Receive until so many bytes have come. Raises EOFError if there are no more."""
        while len(came) < length:
            data = await self._reader.read(length - len(came))
            if not data:
                raise EOFError
            came += data

    async def receive_bytes(self, patience: float | None = None) -> bytes | None:
        """Return the bytes that come next, of any protocol; None if none do, `state` says why."""
        seconds = self._seconds(patience)
        try:
            async with asyncio.timeout(seconds):
                data = await self._reader.read(_CHUNK)
        except TimeoutError:
            self.state = ConnectionState.SILENT
            self._transcript.add_silence(self.peer, seconds)
            return None
        except OSError:
            self.state = ConnectionState.RESET
            return None
        if not data:
            self.state = ConnectionState.CLOSED
            return None
        self._transcript.add(self.peer, data, sent=False)
        return data

    async def _no_frame(self, start: bytes) -> str:
        """Take what stands in place of a frame; return it as text. No frame can follow it."""
        rest = b""
        self.state = ConnectionState.SILENT
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN):
                while len(rest) < _EXCERPT and (more := await self._reader.read(_EXCERPT)):
                    rest += more
        if self._reader.at_eof():
            self.state = ConnectionState.CLOSED
        self._transcript.add(self.peer, start + rest, sent=False)
        return no_frame_text(start + rest)

    async def probe(self, patience: float | None = None) -> ConnectionState:
        """Ask ApiVersions to see what became of the connection, unless that is known."""
        if self.state is ConnectionState.OPEN:
            with suppress(Deviation):  # an answer that is no frame: `state` says what is left
                await self.exchange(api_versions_request(), 0, patience)
        return self.state

    @property
    def own_host(self) -> str:
        """The address of this end, at which the server may reach what the check listens with."""
        host: str = self._writer.get_extra_info("sockname")[0]
        return host

    async def close(self) -> None:
        """End it without a farewell."""
        self._writer.transport.abort()
        with suppress(OSError):
            async with asyncio.timeout(DRAIN):
                await self._writer.wait_closed()
