"""A client that mixes up which answer belongs to which request decides nothing by that.

Clients choose correlation ids, and may use one twice. If the proxy also misses a request, or
forgets one, then an answer to one request looks like the answer to another: a refused CreateAcls v1
reads as a SaslAuthenticate v1 that succeeds.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from socket import create_connection, socket
from uuid import UUID

import pytest

from kwire.codec.declaration import Request
from kwire.error_codes import ErrorCode
from kwire.messages.a00_produce import ProduceRequest, TopicProduceData
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest
from kwire.messages.a19_create_topics import CreatableTopic, CreateTopicsRequest
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, Listener
from kwire.messages.registry import api_key
from kwire.net.address import Address
from kwire.net.frames import decode_response, encode_request
from kwire.proxy import Filters, Proxy
from kwire.proxy import Listener as ProxyListener
from kwire.proxy.addresses import AddressBook, NewListeners
from kwire.proxy.addresses.rewrite_endpoints import RewriteEndpoints
from kwire.proxy.data_path import pairing
from kwire.proxy.flows.walk import failures
from kwire.testing.quorum import Quorum
from tests.support.controller.sasl_listeners import ADMIN, ALICE, ALICE_PASSWORD, sasl_listener
from tests.support.proxy.serve.rights import AUTHORIZER, EVERYTHING, Rights, rights

PENDING = 20
HANDSHAKE = SaslHandshakeRequest(mechanism="PLAIN")
OWN = SaslAuthenticateRequest(auth_bytes=f"\0{ALICE}\0{ALICE_PASSWORD}".encode())
FORGED = SaslAuthenticateRequest(auth_bytes=f"\0{ADMIN}\0?".encode())
REFUSED = int(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
OF_NO_VERSION = struct.pack(">ihhihcc", 12, api_key("ApiVersions"), 32767, 2, 1, b"x", b"\0")
"""A request with the correlation id 2. Every node answers it, and in place of a token it looks like
none."""


class Client:
    """Sends frames as it likes, and reads all answers."""

    def __init__(self, address: Address) -> None:
        self._socket: socket = create_connection((address.host, address.port), timeout=30)

    def close(self) -> None:
        self._socket.close()

    def send(self, *frames: bytes) -> None:
        self._socket.sendall(b"".join(frames))

    def read(self) -> bytes:
        (size,) = struct.unpack(">i", self._socket.recv(4, 0x100))
        return self._socket.recv(size, 0x100)

    def rest(self) -> bytes:
        """Return what comes next, b"" if the connection ends."""
        try:
            return self._socket.recv(4)
        except ConnectionResetError:
            return b""

    def codes(self, request: Request, version: int) -> set[int]:
        self.send(frame(request, version, 77))
        answer = decode_response(self.read(), type(request).key or 0, version).body
        return {failure.code for failure in failures(answer)}


def frame(request: Request, version: int, number: int) -> bytes:
    return encode_request(request, version, correlation_id=number, client_id="x")


EVERYTHING_V1 = frame(EVERYTHING, 1, 1)


def log_in_unseen(client: Client) -> None:
    """SaslAuthenticate v0 is not followed, so that all requests pass to the node."""
    assert client.codes(HANDSHAKE, 1) == set()
    assert client.codes(OWN, 0) == set()


def shift(client: Client, *forged: bytes, refused: bytes) -> None:
    """Have the next requests, of ids 1 and 2, meet the answers to one that is refused."""
    again = refused[:8] + struct.pack(">i", 2) + refused[12:]
    # Behind SaslHandshake v0 the second frame passes as a token, without a flow.
    client.send(frame(HANDSHAKE, 0, 90), OF_NO_VERSION, refused, again, *forged)
    for _ in range(4 + len(forged)):
        client.read()


def become_by_shift(client: Client) -> None:
    log_in_unseen(client)
    shift(client, frame(HANDSHAKE, 1, 1), frame(FORGED, 1, 2), refused=EVERYTHING_V1)


def become_by_number(client: Client) -> None:
    """Send so many requests that the first two are forgotten before their answers come."""
    many = struct.pack(">ihhih", 10, api_key("ApiVersions"), 0, 3, -1) * (PENDING - 2)
    login = frame(HANDSHAKE, 1, 1), frame(OWN, 1, 2), frame(HANDSHAKE, 1, 1), frame(FORGED, 1, 2)
    client.send(*login, many)
    for _ in range(4 + PENDING - 2):
        client.read()


def unchanged(cluster: Rights) -> bool:
    return cluster.changes == [] and cluster.nothing_was_changed()


@pytest.mark.parametrize("become", [become_by_shift, become_by_number])
async def test_nobody_becomes_somebody_else(
    become: Callable[[Client], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairing, "PENDING_LIMIT", PENDING)

    def attack(address: Address) -> set[int]:
        with closing(Client(address)) as client:
            become(client)
            return client.codes(EVERYTHING, 3)

    async with rights(tmp_path) as cluster:
        for address in cluster.addresses():
            assert await asyncio.to_thread(attack, address) == {REFUSED}
        assert unchanged(cluster)


async def test_a_login_ends_when_its_node_closes(tmp_path: Path) -> None:
    async with rights(tmp_path) as cluster:
        leader = cluster.served.mode.cluster.live.leader_id
        (other,) = cluster.quorum.nodes.keys() - {leader}
        at = {listener.node_id: one for listener, one in cluster.served.proxy.addresses.items()}
        login = SaslAuthenticateRequest(auth_bytes=f"\0{ADMIN}\0admin-tr0ub4dor".encode())
        with closing(Client(at[other])) as client:
            assert await asyncio.to_thread(client.codes, HANDSHAKE, 1) == set()
            assert await asyncio.to_thread(client.codes, login, 2) == set()
            (relay,) = cluster.served.proxy._relays  # pyright: ignore[reportPrivateUsage]
            relay.node.eof_received()  # as when the node shuts its end, and nothing else is lost
            client.send(frame(EVERYTHING, 3, 9))
            await asyncio.sleep(0.5)
        assert unchanged(cluster)


async def test_a_login_ends_when_its_node_is_lost(tmp_path: Path) -> None:
    async with rights(tmp_path) as cluster:
        with closing(Client(cluster.addresses()[0])) as client:
            assert await asyncio.to_thread(client.codes, HANDSHAKE, 1) == set()
            assert await asyncio.to_thread(client.codes, OWN, 2) == set()
            (relay,) = cluster.served.proxy._relays  # pyright: ignore[reportPrivateUsage]
            assert relay.connection.login is not None
            relay.node.connection_lost(ConnectionResetError())
            assert relay.connection.login is None


def unanswered() -> bytes:
    """A Produce that asks for no response, of the id 2.

    Its response with an error reads as a SaslAuthenticate v1 that succeeds.
    """
    topic = TopicProduceData(name="\0\0\x10".ljust(0x100, "\0"))
    return frame(ProduceRequest(acks=0, topic_data=[topic]), 3, 2)


async def test_nobody_becomes_somebody_by_a_request_without_a_response(tmp_path: Path) -> None:
    def attack(address: Address) -> bytes:
        with closing(Client(address)) as client:
            client.send(frame(HANDSHAKE, 1, 1), unanswered(), frame(FORGED, 1, 2))
            client.read()
            return client.rest()

    async with rights(tmp_path) as cluster:
        for address in cluster.addresses():
            assert await asyncio.to_thread(attack, address) == b""


@asynccontextmanager
async def rewriting() -> AsyncIterator[Proxy]:
    """`--rewrite-endpoints` in front of a controller that wants a login."""
    properties = sasl_listener("PLAIN") | AUTHORIZER
    book = AddressBook()
    async with asyncio.timeout(60), Quorum(1, properties=properties) as quorum:
        await quorum.wait_for_leader()
        (upstream,) = (Address(*at) for at in quorum.addresses.values())
        listener = ProxyListener(node_id=3000, upstream=upstream)
        filters = Filters([RewriteEndpoints(book)])
        async with Proxy([listener], filters=filters) as proxy, NewListeners(proxy, book):
            yield proxy


def believed(proxy: Proxy) -> list[Address]:
    listeners = [one for one in proxy.addresses if one.guard is not None]
    return [one.upstream for one in listeners if one.guard is not None and one.guard.believed]


async def attacked(proxy: Proxy, refused: bytes, *forged: bytes) -> list[Address]:
    """Shift the answers of one connection; return the addresses that are believed then."""
    (at,) = proxy.addresses.values()

    def attack() -> None:
        with closing(Client(at)) as client:
            log_in_unseen(client)
            shift(client, *forged, refused=refused)

    await asyncio.to_thread(attack)
    return believed(proxy)


async def test_no_answer_to_another_request_accepts_an_address() -> None:
    voter = AddRaftVoterRequest(
        voter_id=4000,
        voter_directory_id=UUID(int=1),
        listeners=[Listener(name="C", host="127.0.0.1", port=20000)],
    )
    async with rewriting() as proxy:
        assert await attacked(proxy, EVERYTHING_V1, frame(voter, 0, 1)) == []


async def test_no_answer_to_another_request_names_an_address() -> None:
    # A node's id, "127.0.0.1", port 20000, no rack, and the operations.
    broker = b"\0\0\0\x02" + struct.pack(">i", 3872) + b"\x0a127.0.0.1\0\0N " + bytes(7)
    topic = CreatableTopic(name=broker.decode().ljust(0x110, "x"), num_partitions=1)
    refused = frame(CreateTopicsRequest(topics=[topic]), 4, 1)
    async with rewriting() as proxy:
        assert await attacked(proxy, refused, frame(DescribeClusterRequest(), 0, 1)) == []
