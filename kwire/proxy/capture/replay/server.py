"""A server that answers in place of recorded nodes, from their recorded answers.

1. A request that was recorded gets the recorded answer with its own correlation id, after the
   recorded time. The nodes' addresses in it become those of this server.
2. A request that wants no response gets none; one that had got none has its connection closed.
3. Any other request gets an error response of its API, or its connection is closed if that API has
   none.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import count
from typing import Self

from kwire.error_codes import ErrorCode
from kwire.errors import KwireError
from kwire.messages.a18_api_versions import ApiVersionsResponse
from kwire.messages.error_response import visible_error_response
from kwire.messages.registry import api_key
from kwire.net.accepting import stop_accepting
from kwire.net.address import Address, why_not_bound
from kwire.net.frames import FrameSplitter, decode_request, encode_response, request_head
from kwire.net.tasks import cancel_and_wait
from kwire.net.tls import ServerTls
from kwire.proxy.capture.replay.answers import RecordedAnswers
from kwire.proxy.data_path.server import CannotListen
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import ClientConnection, Effect, Flow, Notice, NoticeKind, Outcome, Sink
from kwire.proxy.flows.node_addresses import node_addresses

UNMATCHED = ErrorCode.UNKNOWN_SERVER_ERROR
"""The error for a request that was not recorded: a client that waited would tell nothing."""

_API_VERSIONS = api_key("ApiVersions")
_SIZE = 4  # bytes of the size in front of a frame


class ReplayServer:
    """Listens for each node, and at None for all others, while the context lasts.

    async with ReplayServer(answers, {None: Address("127.0.0.1", 0)}, sinks=[print]) as server:
        ...

    sinks: take a flow for each request. tls: with clients. fast: answer at once. addresses: at
    which it listens, with the ports that the system chose. unmatched: requests that were not
    recorded; first_unmatched: a sentence about the first of them. Raises CannotListen, BadTls.
    """

    def __init__(
        self,
        answers: RecordedAnswers,
        listen: Mapping[int | None, Address],
        *,
        sinks: Iterable[Sink] = (),
        tls: ServerTls | None = None,
        fast: bool = False,
    ) -> None:
        self._tls = tls
        self.answers = answers
        self.fast = fast
        self.addresses: dict[int | None, Address] = {}
        self.unmatched = 0
        self.first_unmatched = ""
        self._listen = listen
        self._sinks = tuple(sinks)
        self._numbers = count(1)
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        try:
            for node_id, address in self._listen.items():
                await self._open(node_id, address)
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._close()

    def add_sink(self, sink: Sink) -> None:
        """Send events to one more sink, from now on."""
        self._sinks += (sink,)

    def address_of(self, node_id: int | None) -> Address | None:
        """Return the address in place of a node, None if there is none."""
        return self.addresses.get(node_id) or self.addresses.get(None)

    def tell(self, event: Flow | Notice) -> None:
        """Hand an event to the sinks."""
        for sink in self._sinks:
            sink(event)

    async def _open(self, node_id: int | None, address: Address) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            # asyncio's streams report a task that was cancelled as if it had failed
            with suppress(asyncio.CancelledError):
                await _ClientConnection(self, node_id, writer, next(self._numbers)).run(reader)

        tls = None if self._tls is None else self._tls.context()
        try:
            server = await asyncio.start_server(serve, address.host, address.port, ssl=tls)
        except OSError as error:
            raise CannotListen(f"cannot listen at {address}: {why_not_bound(error)}") from error
        self._servers.append(server)
        host, port = server.sockets[0].getsockname()[:2]
        self.addresses[node_id] = Address(host, port)

    async def _close(self) -> None:
        await stop_accepting(*self._servers)
        await cancel_and_wait(self._tasks)
        for server in self._servers:
            await server.wait_closed()


class _ClientConnection:
    """The connection of one client."""

    def __init__(
        self,
        server: ReplayServer,
        node_id: int | None,
        writer: asyncio.StreamWriter,
        number: int,
    ) -> None:
        self._server = server
        self._node_id = node_id
        self._writer = writer
        self._host = writer.get_extra_info("sockname")[0]
        host, port = writer.get_extra_info("peername")[:2]
        self._connection = ClientConnection(
            number=number,
            node_id=node_id,
            client=str(Address(host, port)),
            upstream="the recording",
            at=time.time(),
        )

    async def run(self, reader: asyncio.StreamReader) -> None:
        """Answer until the client closes, or a request cannot be answered."""
        splitter, frames = FrameSplitter(), list[bytes]()
        try:
            while chunk := await reader.read(1 << 16):
                splitter.feed(chunk, frames.append)
                for frame in frames:
                    if not await self._serve(frame):
                        return
                frames.clear()
        except KwireError as error:
            self._notice(NoticeKind.UNREADABLE, str(error))
        except ConnectionError as error:
            self._notice(NoticeKind.CLOSED, f"the client {error.strerror or 'closed'}")
        finally:
            self._writer.close()
            with suppress(ConnectionError):
                await self._writer.wait_closed()

    async def _serve(self, frame: bytes) -> bool:
        """Answer one request; return True if the connection stays open. Raises FrameError."""
        head = request_head(frame)
        flow = Flow(
            self._connection,
            head.key,
            head.version,
            head.correlation_id,
            None,
            time.time(),
            time.monotonic(),
            len(frame),
            request_copy=frame,
        )
        request = DecodedFlow(flow).request
        if request is not None:
            flow.client_id = self._connection.client_id = request.header.client_id
        recorded = self._server.answers.find(frame, self._node_id)
        if recorded is None:
            answer = self._refuse(flow, frame)
        else:
            flow.add_effect(Effect.ANSWERED, "answered from the recording")
            answer = self._answer(recorded, flow)
            await asyncio.sleep(0.0 if self._server.fast else recorded.latency or 0.0)
        return await self._end(flow, answer)

    async def _end(self, flow: Flow, answer: bytes | None) -> bool:
        if answer:
            flow.outcome, flow.answered = Outcome.ANSWERED, time.monotonic()
            flow.response_copy = answer[_SIZE:]
            flow.response_size = len(flow.response_copy)
            self._writer.write(answer)
        else:
            flow.outcome = Outcome.LOST if answer is None else Outcome.NO_RESPONSE
        self._server.tell(flow)
        await self._writer.drain()
        return answer is not None

    def _answer(self, recorded: Flow, flow: Flow) -> bytes | None:
        """Return a frame: empty if the request wants no response, None to close the connection."""
        if recorded.outcome is Outcome.NO_RESPONSE:
            return b""
        if recorded.outcome is Outcome.LOST or recorded.response_copy is None:
            flow.problems.append("the recorded connection ended here, and so does this one")
            return None
        decoded = DecodedFlow(recorded).response
        nodes = [] if decoded is None else list(node_addresses(decoded.body))
        if decoded is not None and nodes:
            for node in nodes:
                here = self._server.address_of(node.node_id)
                node.change(node.address if here is None else Address(self._host, here.port))
            return encode_response(
                decoded.body, decoded.version, correlation_id=flow.correlation_id
            )
        body = flow.correlation_id.to_bytes(4, "big", signed=True) + recorded.response_copy[4:]
        return len(body).to_bytes(_SIZE, "big") + body

    def _refuse(self, flow: Flow, frame: bytes) -> bytes | None:
        """Return the frame for a request that was not recorded, None to close the connection."""
        difference = self._server.answers.difference(frame, self._node_id)
        self._server.unmatched += 1
        self._server.first_unmatched = self._server.first_unmatched or difference
        return _refusal(flow, self._server.answers, f"not in the recording: {difference}")

    def _notice(self, kind: NoticeKind, text: str) -> None:
        notice = Notice(connection=self._connection, at=time.time(), kind=kind, text=text)
        self._server.tell(notice)


def _refusal(flow: Flow, answers: RecordedAnswers, problem: str) -> bytes | None:
    """Return a well-formed error response, None if the API has none.

    ApiVersions offers the client the versions that were recorded (KIP-511).
    """
    if flow.key == _API_VERSIONS:
        flow.problems.append(f"{problem}; answered with the versions that are")
        code = ErrorCode.UNSUPPORTED_VERSION if flow.version else ErrorCode.NONE
        offer = ApiVersionsResponse(error_code=code, api_keys=answers.offered)
        return encode_response(offer, 0, correlation_id=flow.correlation_id)
    try:
        request = decode_request(flow.request_copy or b"")
        refusal = visible_error_response(request.body, flow.version, UNMATCHED)
    except KwireError:
        refusal = None
    if refusal is None:
        flow.problems.append(f"{problem}; closed, since such a response has no room for an error")
        return None
    flow.problems.append(f"{problem}; answered with {UNMATCHED.name}")
    return encode_response(refusal, flow.version, correlation_id=flow.correlation_id)
