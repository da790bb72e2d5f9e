"""Filters on real sockets: what they hold arrives, what they cut is cut, nothing is left."""

import asyncio
import socket
import struct
from contextlib import suppress

from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.proxy import (
    Call,
    ClientConnection,
    Close,
    Delay,
    Event,
    Filter,
    Filters,
    Listener,
    NoticeKind,
    Proxy,
)
from tests.support.eventually import eventually
from tests.support.proxy.data_path.proxied_node import GRANTED, VOTE, flows, grant, kinds, node


async def test_filters_work_on_sockets_and_what_they_hold_still_arrives_before_the_end() -> None:
    class Later(Filter):
        async def on_vote_request(self, request: VoteRequest, call: Call) -> None:
            asked = await call.ask(VoteRequest(), 2)
            assert isinstance(asked, VoteResponse)

        def on_vote_response(self, response: VoteResponse, call: Call) -> Delay:
            return Delay(0.05)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        own = await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))
        writer.write(GRANTED[:4] + own[4:8] + GRANTED[8:])
        assert await reader.read() == VOTE
        writer.write(GRANTED)
        writer.close()

    events: list[Event] = []
    async with node(serve) as upstream:
        listener = Listener(node_id=3000, upstream=upstream)
        filters = Filters([Later()])
        async with Proxy([listener], sinks=[events.append], filters=filters) as proxy:
            address = proxy.addresses[listener]
            reader, writer = await asyncio.open_connection(address.host, address.port)
            writer.write(VOTE)
            writer.write_eof()
            assert await reader.read() == GRANTED
            await eventually(lambda: not proxy.connections)
            writer.close()
            assert proxy.held.held == 0
    assert [flow.notes for flow in flows(events)] == [
        ("asked by a filter",),
        ("delayed 0.05 s by Later",),
    ]


async def test_a_filter_closes_a_connection_and_refuses_another() -> None:
    class Doorman(Filter):
        refuse = False

        def on_connect(self, connection: ClientConnection) -> Close | None:
            return Close() if self.refuse else None

        def on_vote_request(self, request: VoteRequest, call: Call) -> Close:
            return Close()

    doorman = Doorman()
    events: list[Event] = []
    async with node(grant) as upstream:
        listener = Listener(node_id=3000, upstream=upstream)
        async with Proxy([listener], sinks=[events.append], filters=Filters([doorman])) as proxy:
            address = proxy.addresses[listener]
            for _ in range(2):
                reader, writer = await asyncio.open_connection(address.host, address.port)
                with suppress(ConnectionResetError):
                    writer.write(VOTE)
                    assert await reader.read() == b""
                writer.close()
                doorman.refuse = True
            await eventually(lambda: not proxy.connections)
    assert kinds(events) == [NoticeKind.OPENED, NoticeKind.CLOSED]
    assert [flow.notes for flow in flows(events)] == [("closed by Doorman",)]


async def test_a_response_that_is_held_outlives_a_node_that_is_gone() -> None:
    class Later(Filter):
        def on_vote_response(self, response: VoteResponse, call: Call) -> Delay:
            return Delay(0.2)

    async def answer_and_die(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(len(VOTE))
        writer.write(GRANTED)
        await eventually(lambda: proxy.held.held > 0)
        at_once = struct.pack("ii", 1, 0)  # a reset instead of an orderly end
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        writer.transport.abort()

    async with node(answer_and_die) as upstream:
        listener = Listener(node_id=3000, upstream=upstream)
        async with Proxy([listener], filters=Filters([Later()])) as proxy:
            address = proxy.addresses[listener]
            reader, writer = await asyncio.open_connection(address.host, address.port)
            writer.write(VOTE)
            assert await reader.read() == GRANTED
            writer.close()
            await eventually(lambda: not proxy.connections)
