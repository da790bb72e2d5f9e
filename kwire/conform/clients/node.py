"""The nodes: listen, cut the client's bytes into frames, and let the script reply."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from ssl import SSLContext
from typing import Any, Self

from kwire.conform.clients.cluster import NODES, Cluster
from kwire.conform.clients.play import Play, SeenClientRequest, SeenConnection
from kwire.conform.clients.script import NodeReply, ReplyEnd, Script, offered
from kwire.error_codes import ErrorCode
from kwire.errors import KwireError
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest
from kwire.net.accepting import stop_accepting
from kwire.net.address import Address
from kwire.net.frames import (
    FRAME_LIMIT,
    decode_request,
    decode_response,
    encode_response,
    request_head,
)

_LOOK = 0.1
_HEAD = 8
"""Bytes of key, version and correlation id, with which every request begins."""
_GRACE = 2.0
"""Seconds that a request may be late after the end of a session: networks and clocks differ."""
_WITHOUT_LOGIN = (ApiVersionsRequest, SaslHandshakeRequest, SaslAuthenticateRequest)


class ClientNodes:
    """The nodes of a cluster, each on a port of 127.0.0.1, inside `async with`.

    The play of a case is put in with `begin`, and another one after it.
    """

    def __init__(
        self,
        ports: tuple[int, ...] = (0,) * len(NODES),
        tls: Callable[[int], SSLContext] | None = None,
    ) -> None:
        self._ports = ports
        self._tls = tls
        self._servers: list[asyncio.Server] = []
        self._serving: set[asyncio.Task[None]] = set()
        self.addresses: dict[int, Address] = {}
        self._script: Script | None = None
        self._play = Play(cluster=Cluster(addresses={}))
        self._began = 0.0

    async def __aenter__(self) -> Self:
        for node_id, port in zip(NODES, self._ports, strict=True):

            async def accept(
                reader: asyncio.StreamReader, writer: asyncio.StreamWriter, node: int = node_id
            ) -> None:
                await self._accept(node, reader, writer)

            tls = self._tls(node_id) if self._tls else None
            server = await asyncio.start_server(accept, "127.0.0.1", port, ssl=tls)
            self._servers.append(server)
            self.addresses[node_id] = Address("127.0.0.1", server.sockets[0].getsockname()[1])
        return self

    async def __aexit__(self, *exc: object) -> None:
        await stop_accepting(*self._servers)
        await self.desert()

    def begin(self, play: Play, script: Script) -> None:
        """Let a case begin."""
        self._play, self._script, self._began = play, script, time.monotonic()

    async def desert(self) -> None:
        """End every connection."""
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def deserted(self, seconds: float) -> None:
        """Wait until there were connections, and none is open or has come for so long."""
        while True:
            await asyncio.sleep(_LOOK)
            ends = [connection.closed for connection in self._play.connections]
            closed = [end for end in ends if end is not None]
            if ends and len(closed) == len(ends) and self.now - max(closed) > seconds:
                return

    @property
    def now(self) -> float:
        """Seconds since the case began."""
        return time.monotonic() - self._began

    async def _accept(
        self, node_id: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        play = self._play
        seen = SeenConnection(number=len(play.connections) + 1, node_id=node_id, opened=self.now)
        play.connections.append(seen)
        try:
            seen.by_client = await _Served(self, play, seen, reader, writer).run()
        except (asyncio.IncompleteReadError, OSError):
            seen.by_client = True
        except asyncio.CancelledError:
            pass  # the case is over
        except Exception as error:
            play.error = error
        finally:
            seen.closed = self.now
            writer.transport.abort()

    def reply(self, node_id: int, frame: bytes, seen: SeenClientRequest) -> NodeReply:
        """Return the reply to a frame, and write down what it was."""
        assert self._script is not None, "no case has begun"
        cluster = self._script.cluster
        ranges = {part.api_key: (part.min_version, part.max_version) for part in offered(cluster)}
        first, last = ranges.get(seen.key, (0, -1))
        if not first <= seen.version <= last:
            if seen.key == ApiVersionsRequest.key:
                return _older_please(cluster, seen)
            seen.problem = "it is not offered"
            return NodeReply(end=ReplyEnd.CLOSE)
        try:
            request = decode_request(frame)
        except KwireError as error:
            seen.problem = str(error)
            return NodeReply(end=ReplyEnd.CLOSE)
        seen.body, seen.client_id = request.body, request.header.client_id
        seen.left_over = request.left_over
        reply, seen.is_scripted = self._script.reply(node_id, request)
        return reply


class _Served:
    """One connection, one request after the other, as a broker serves it."""

    def __init__(
        self,
        nodes: ClientNodes,
        play: Play,
        connection: SeenConnection,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._nodes, self._play, self._connection = nodes, play, connection
        self._reader, self._writer = reader, writer
        self._logged_in_until: float | None = None
        self._says_no_more = False

    async def run(self) -> bool:
        """Serve until one side ends it; True if the client did."""
        while True:
            size = int.from_bytes(await self._reader.readexactly(4), "big", signed=True)
            if not 0 <= size <= FRAME_LIMIT:
                return False
            frame = await self._reader.readexactly(size)
            if size < _HEAD:
                return False
            head = request_head(frame)
            seen = SeenClientRequest(
                at=self._nodes.now,
                node_id=self._connection.node_id,
                connection=self._connection.number,
                key=head.key,
                version=head.version,
                correlation_id=head.correlation_id,
                client_id=None,
                body=None,
                frame=size.to_bytes(4, "big") + frame,
            )
            self._play.requests.append(seen)
            if self._says_no_more:
                continue
            reply = self._nodes.reply(self._connection.node_id, frame, seen)
            if self._is_locked(seen):
                return False
            if not await self._carry_out(reply, seen) or self._is_wrong_login(seen):
                return False

    def _is_locked(self, seen: SeenClientRequest) -> bool:
        """True if the client would have to log in first, or again (KIP-368)."""
        cluster = self._play.cluster
        if cluster.password is None or isinstance(seen.body, _WITHOUT_LOGIN):
            return False
        if self._logged_in_until is None or seen.at > self._logged_in_until + _GRACE:
            seen.problem = "the client is not logged in, or its session is over"
            return True
        return False

    def _is_wrong_login(self, seen: SeenClientRequest) -> bool:
        """Take a login; True if it was refused, which ends the connection as Kafka does."""
        if not isinstance(seen.body, SaslAuthenticateRequest) or not seen.reply:
            return False
        answer: Any = decode_response(seen.reply[4:], seen.key, seen.version).body
        # Versions before 1 know no end of a session.
        lifetime = answer.session_lifetime_ms / 1000 if seen.version else 0
        self._logged_in_until = seen.at + (lifetime or 1e9)
        return bool(answer.error_code)

    async def _carry_out(self, reply: NodeReply, seen: SeenClientRequest) -> bool:
        """Do what a reply says; False if it ends the connection."""
        await asyncio.sleep(reply.delay)
        seen.reply = reply.data
        if reply.data:
            seen.answered = self._nodes.now
        parts = [reply.data[i : i + 1] for i in range(len(reply.data))] if reply.drip else ()
        for part in parts or (reply.data,):
            self._writer.write(part)
            await self._writer.drain()
            await asyncio.sleep(reply.drip)
        if reply.end is ReplyEnd.RESET:
            linger = struct.pack("ii", 1, 0)
            with suppress(OSError):
                raw = self._writer.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        if reply.end is ReplyEnd.HALF:
            self._writer.write_eof()
        if reply.end is ReplyEnd.CLOSE:
            self._writer.close()
            with suppress(OSError):
                await self._writer.wait_closed()
        self._says_no_more = reply.end in (ReplyEnd.HALF, ReplyEnd.MUTE)
        return self._says_no_more or reply.end is ReplyEnd.NONE


def _older_please(cluster: Cluster, seen: SeenClientRequest) -> NodeReply:
    """Return what Kafka answers to an ApiVersions in a version that it lacks (KIP-511)."""
    keys = [part for part in offered(cluster) if part.api_key == ApiVersionsRequest.key]
    response = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=keys)
    seen.is_scripted = True
    return NodeReply(data=encode_response(response, 0, correlation_id=seen.correlation_id))
