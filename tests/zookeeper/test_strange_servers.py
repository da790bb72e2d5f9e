"""Servers that are not ZooKeeper, or say what none does: one typed error, no hang, no thread."""

from __future__ import annotations

import asyncio
import struct
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import pytest

from kwire.net.accepting import stop_accepting
from kwire.net.address import Address
from kwire.zookeeper import ConnectionLost, Create, SessionEvent, ZooKeeperUnreachable, kazoo_client
from kwire.zookeeper.kazoo_client import KazooZooKeeper
from kwire.zookeeper.metadata import read_metadata
from kwire.zookeeper.settings import ZooKeeperSettings
from kwire.zookeeper.znodes import AssignedReplicas, TopicZnode

PATIENCE = 50.0
"""Seconds, by which nothing that is waited for comes late."""

SESSION = struct.pack(">iiq", 0, 4000, 7) + struct.pack(">i", 16) + bytes(16) + b"\0"
"""The answer that opens session 7, with a timeout of 4 s."""

STAT = bytes(68)

NO_NODE = -101

Reply = Callable[[bytes], bytes]


def framed(data: bytes) -> bytes:
    """Return data behind its length."""
    return struct.pack(">i", len(data)) + data


def answered(request: bytes, error: int = 0, body: bytes = STAT) -> bytes:
    """Return the answer to a request."""
    xid = struct.unpack(">i", request[:4])[0]
    return framed(struct.pack(">iqi", xid, 1, error) + body)


@asynccontextmanager
async def strange(first: bytes, reply: Reply) -> AsyncIterator[ZooKeeperSettings]:
    """Serve one answer for the session, and `reply` for each request."""
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        try:
            await reader.readexactly(struct.unpack(">i", await reader.readexactly(4))[0])
            writer.write(first)
            while True:
                size = struct.unpack(">i", await reader.readexactly(4))[0]
                writer.write(reply(await reader.readexactly(size)))
        except (asyncio.IncompleteReadError, OSError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    address = Address(*server.sockets[0].getsockname())
    yield ZooKeeperSettings(addresses=(address,), session_seconds=2, connection_seconds=0.1)
    await stop_accepting(server)
    for writer in writers:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


GARBAGE: dict[str, tuple[bytes, Reply]] = {
    "http": (b"HTTP/1.1 400 Bad Request\r\n\r\n", lambda _: b""),
    "negative length": (struct.pack(">i", -5), lambda _: b""),
    "huge length": (struct.pack(">i", 0x7FFFFFFF) + b"x", lambda _: b""),
    "empty frame": (framed(b""), lambda _: b""),
    "short session": (framed(SESSION[:9]), lambda _: b""),
    "session of no time": (framed(struct.pack(">iiq", 0, 0, 0) + SESSION[16:]), lambda _: b""),
    "no answers": (framed(SESSION), lambda _: b""),
    "unknown error": (framed(SESSION), lambda request: answered(request, -999)),
    "short answer": (framed(SESSION), lambda request: answered(request, body=b"x")),
    "wrong number": (framed(SESSION), lambda _: framed(struct.pack(">iqi", 99, 1, 0) + STAT)),
    "empty answer": (framed(SESSION), lambda _: framed(b"")),
}


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kazoo_client, "CLOSE_SECONDS", 0.2)
    monkeypatch.setattr(kazoo_client, "RESTART_SECONDS", 0.05)


@pytest.mark.parametrize("garbage", GARBAGE)
async def test_what_no_zookeeper_says_is_one_error(garbage: str) -> None:
    first, reply = GARBAGE[garbage]
    async with strange(first, reply) as settings:
        with pytest.raises(ZooKeeperUnreachable, match=r"^no session with ZooKeeper at 127"):
            await asyncio.wait_for(KazooZooKeeper.connect(settings), PATIENCE)
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("kwire-zookeeper")]


CHILDREN, PING = 8, 11
"""ZooDefs.OpCode."""


def of_a_topic(request: bytes) -> bytes:
    """Answer as a ZooKeeper that holds one topic of 1,000 partitions without leaders."""
    kind = struct.unpack(">i", request[4:8])[0]
    if kind == PING:
        return answered(request)
    path = request[12 : 12 + struct.unpack(">i", request[8:12])[0]]
    if kind == CHILDREN:
        names = [b"orders"] if path == b"/brokers/topics" else []
        body = b"".join(struct.pack(">i", len(name)) + name for name in names)
        return answered(request, body=struct.pack(">i", len(names)) + body)
    if path == b"/brokers/topics/orders":
        partitions = dict.fromkeys(range(1000), AssignedReplicas((1,)))
        data = TopicZnode(topic_id=None, partitions=partitions).encode()
        return answered(request, body=struct.pack(">i", len(data)) + data + STAT)
    return answered(request, NO_NODE)


async def test_a_server_that_falls_silent_in_the_middle_ends_the_reading() -> None:
    """kazoo waits for less than the session's timeout; here the server grants one second."""
    answers = iter(range(100))

    def reply(request: bytes) -> bytes:
        return of_a_topic(request) if next(answers, None) is not None else b""

    granted = SESSION[:4] + struct.pack(">i", 1000) + SESSION[8:]
    async with strange(framed(granted), reply) as settings:
        client = await KazooZooKeeper.connect(replace(settings, connection_seconds=PATIENCE))
        before = asyncio.all_tasks()
        with pytest.raises(ConnectionLost, match=r"^the connection to ZooKeeper at 127.* was lost"):
            await asyncio.wait_for(read_metadata(client), PATIENCE)
        left_over = [task for task in asyncio.all_tasks() - before if "serve" not in repr(task)]
        assert not left_over
        await client.close()


async def test_a_server_that_answers_pings_alone_is_left() -> None:
    """A follower does so while its leader's disk stands still: the next server may be better."""
    pings = 0
    answers = iter(range(1))  # the one that shows that the login is accepted

    def reply(request: bytes) -> bytes:
        nonlocal pings
        if struct.unpack(">i", request[4:8])[0] == PING:
            pings += 1
            return answered(request)
        return answered(request) if next(answers, None) is not None else b""

    granted = SESSION[:4] + struct.pack(">i", 1000) + SESSION[8:]
    async with strange(framed(granted), reply) as settings:
        settings = replace(settings, session_seconds=0.6, connection_seconds=PATIENCE)
        client = await KazooZooKeeper.connect(settings)
        told: asyncio.Queue[SessionEvent] = asyncio.Queue()
        client.add_listener(told.put_nowait)
        with pytest.raises(ConnectionLost, match=r"lost: the operation may have been carried out$"):
            await asyncio.wait_for(client.multi([Create("/a")]), PATIENCE)
        assert pings
        assert await told.get() is SessionEvent.SUSPENDED
        assert await asyncio.wait_for(told.get(), PATIENCE) is SessionEvent.CONNECTED
        await client.close()


async def test_a_client_survives_an_answer_that_nobody_understands() -> None:
    """kazoo's thread ends of an unknown error code; a new one connects again."""
    errors = iter([0, -999])

    def reply(request: bytes) -> bytes:
        return answered(request, next(errors, 0))

    async with strange(framed(SESSION), reply) as settings:
        client = await KazooZooKeeper.connect(replace(settings, connection_seconds=PATIENCE))
        again = asyncio.Event()
        client.add_listener(lambda event: again.set() if event is SessionEvent.CONNECTED else None)
        with pytest.raises(ConnectionLost, match=r"was lost before it answered$"):
            await client.exists("/")
        await asyncio.wait_for(again.wait(), PATIENCE)
        assert await client.exists("/") is not None
        await client.close()


async def test_only_a_change_without_an_answer_may_have_been_carried_out() -> None:
    errors = iter([0, -999])
    async with strange(framed(SESSION), lambda request: answered(request, next(errors))) as server:
        client = await KazooZooKeeper.connect(replace(server, connection_seconds=PATIENCE))
        with pytest.raises(ConnectionLost, match=r"lost: the operation may have been carried out$"):
            await client.multi([Create("/a")])
        await client.close()
