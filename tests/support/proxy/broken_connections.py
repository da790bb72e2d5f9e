"""A proxy between a client and a node that break off, for the tests of that.

The limits are so long here that only the end itself can end a connection.
"""

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

from kwire.capture import CaptureFiles
from kwire.messages.a52_vote import NodeEndpoint, VoteRequest, VoteResponse
from kwire.net.address import Address
from kwire.net.tls import ClientTls, ServerTls
from kwire.proxy import (
    Event,
    Filter,
    Filters,
    Interest,
    Limits,
    Listener,
    NoticeKind,
    Proxy,
    Sink,
    pass_everything,
    tap_everything,
)
from kwire.proxy.addresses import AddressBook
from kwire.proxy.addresses.rewrite_endpoints import RewriteEndpoints
from kwire.proxy.capture.recorder import Recorder
from kwire.proxy.filters.intercept import Intercept
from kwire.proxy.filters.rules import read_rules
from kwire.proxy.flows.interest import Direction
from kwire.proxy.flows.language import parse
from tests.support.certificates import Authority
from tests.support.eventually import eventually
from tests.support.proxy.dialogue import answered, asked
from tests.support.proxy.filter_dialogue import rule_filters
from tests.support.proxy.notices import notice_texts
from tests.support.proxy.observing_filter import ObservingFilter

NEVER = 3600.0
ENDLESS = Limits(first_frame=NEVER, progress=NEVER, idle=NEVER, drain=NEVER)
PATIENCE = 60.0

LEADER = NodeEndpoint(node_id=1, host="127.0.0.1", port=9)
ASKED = [asked(VoteRequest(), 2, number) for number in (1, 2)]
GRANTED = [answered(VoteResponse(node_endpoints=[LEADER]), 2, number) for number in (1, 2)]
OVER_TLS = ((True, False), (False, True), (True, True))
"""With clients, with the node."""

CUTS = (3, 9, len(GRANTED[1]) - 1)


@dataclass
class Front:
    """A proxy in front of a scripted peer. node: the sockets that the proxy has opened to it."""

    address: Address
    proxy: Proxy
    events: list[Event]
    server: socket.socket
    client_tls: ssl.SSLContext | None = None
    node_tls: ssl.SSLContext | None = None
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def connect(self) -> "tuple[Peer, Peer]":
        """A client, and its connection as the node has it."""
        loop = asyncio.get_running_loop()
        accepting = asyncio.create_task(loop.sock_accept(self.server))
        reader, writer = await asyncio.open_connection(*self._at, ssl=self.client_tls)
        accepted, _ = await accepting
        behind = asyncio.StreamReader()
        transport, protocol = await loop.connect_accepted_socket(
            lambda: asyncio.StreamReaderProtocol(behind), accepted, ssl=self.node_tls
        )
        node_writer = asyncio.StreamWriter(transport, protocol, behind, loop)
        self.writers += [writer, node_writer]
        return Peer(reader, writer), Peer(behind, node_writer)

    @property
    def _at(self) -> tuple[str, int]:
        return self.address.host, self.address.port

    async def gone(self) -> None:
        """Nothing is left of any connection, and no memory is taken."""
        await eventually(lambda: not self.proxy.connections)
        assert (self.proxy.copies.held, self.proxy.held.held) == (0, 0)

    def notice_texts(self, kind: NoticeKind) -> list[str]:
        """Return the texts of notices of this kind."""
        return notice_texts(self.events, kind)


@dataclass
class Peer:
    """One end of a connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    taken: int = 0

    @property
    def arrived(self) -> int:
        """Bytes that have arrived so far."""
        return self.taken + len(self.reader._buffer)  # type: ignore[attr-defined]

    async def rest(self) -> bytes:
        """All that arrives up to the end, which has to come."""
        data = b""
        async with asyncio.timeout(PATIENCE):
            with suppress(ConnectionError):
                while piece := await self.reader.read(1 << 16):
                    data += piece
        return data

    async def exactly(self, size: int) -> bytes:
        async with asyncio.timeout(PATIENCE):
            data = await self.reader.readexactly(size)
        self.taken += size
        return data

    def end(self, how: str) -> None:
        """Close, so that what was sent arrives before the end; or reset."""
        if how == "closes":
            self.writer.close()
            return
        at_once = struct.pack("ii", 1, 0)
        plain = self.writer.get_extra_info("socket")
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        self.writer.transport.abort()


def delayed() -> list[Filter]:
    rules = read_rules("rules: [{match: ~api Vote, direction: response, delay: 10ms}]")
    return list(rule_filters(rules, lambda: 0.5, 0.0))


def rewritten() -> list[Filter]:
    book = AddressBook()
    book.add(Address(LEADER.host, LEADER.port), Address("127.0.0.1", 8))
    return [RewriteEndpoints(book)]


@dataclass
class DataPath:
    """A way of frames through the proxy. arrives: what a client gets of a whole response."""

    filters: Callable[[], list[Filter]] = list
    taps: bool = True
    records: bool = False
    arrives: bytes = GRANTED[0]
    holds: bool = field(init=False)

    def __post_init__(self) -> None:
        self.holds = bool(self.filters())


REWRITTEN = answered(
    VoteResponse(node_endpoints=[NodeEndpoint(node_id=1, host="127.0.0.1", port=8)]), 2, 1
)
PATHS = {
    "passed": DataPath(taps=False),
    "tapped": DataPath(),
    "recorded": DataPath(records=True),
    "held": DataPath(lambda: [ObservingFilter()]),
    "held and recorded": DataPath(lambda: [ObservingFilter()], records=True),
    "delayed by a rule": DataPath(delayed),
    "rewritten": DataPath(rewritten, arrives=REWRITTEN),
    "intercepted": DataPath(lambda: [Intercept(parse("~api Produce"), print), ObservingFilter()]),
}


@asynccontextmanager
async def front(
    *filters: Filter,
    taps: bool = True,
    record: Path | None = None,
    tls: tuple[bool, bool] = (False, False),
    folder: Path | None = None,
    limits: Limits = ENDLESS,
) -> AsyncIterator[Front]:
    """A proxy with these filters; tls: with clients, with the node, by keys in the folder."""
    events: list[Event] = []
    authority = Authority(folder, "ours") if folder is not None and any(tls) else None
    server_tls = client_tls = context = node_tls = None
    if authority is not None and tls[0]:
        pem = authority.issue("127.0.0.1")
        server_tls = ServerTls(certificate=pem.certificate, key=pem.key)
        client_tls = authority.client()
    if authority is not None and tls[1]:
        context = ClientTls(authorities=authority.path)
        node_tls = authority.server("127.0.0.1")
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        nullcontext() if record is None else Recorder(CaptureFiles.single(record)) as recorder,
    ):
        server.setblocking(False)
        listener = Listener(
            node_id=3000,
            upstream=Address(*server.getsockname()),
            tls=server_tls,
            upstream_tls=context,
        )
        wants: Callable[[int, int, Direction], Interest]
        wants = tap_everything if taps else pass_everything
        sinks: list[Sink] = [events.append, *([] if recorder is None else [recorder])]
        behind = Filters(filters) if filters else None
        async with Proxy(
            [listener], sinks=sinks, wants=wants, limits=limits, filters=behind
        ) as proxy:
            here = Front(proxy.addresses[listener], proxy, events, server, client_tls, node_tls)
            try:
                yield here
            finally:
                for writer in here.writers:
                    # Python 3.11.2 (Debian 12) fails for one that was closed twice over TLS.
                    with suppress(AttributeError):
                        writer.transport.abort()
                await asyncio.sleep(0)


def moved(here: Front, receiver: Peer, count: int, *, requests: bool = False) -> bool:
    """True if the proxy has read so many bytes for the client or node that is to receive them."""
    # The loop in C is not asked: it holds nothing back, so that they have arrived as well.
    for relay in here.proxy._relays:
        sender = relay.client if requests else relay.node
        if (receiver.arrived if relay._is_away else sender._framer.passed) == count:
            return True
    return False
