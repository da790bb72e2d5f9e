"""A listener takes as many connections, and as fast, as max.connections and the others say."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable

import pytest

from kwire.controller.quotas.connection_quotas import ConnectionLimits, ConnectionQuotas
from kwire.controller.server.acceptor import Acceptor
from kwire.error_codes import ErrorCode
from kwire.errors import InvalidValue
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kwire.messages.config_resource import ResourceType
from kwire.net.connection import Connection
from kwire.testing.quorum import Quorum
from tests.support.controller.server.echo_listener import (
    VERSIONS,
    Clients,
    EchoService,
    answered,
    echo_listener,
)
from tests.support.eventually import eventually

MANY = 300
"""Connections at once; most systems let a process have 1,024 files, and both ends are here."""


@pytest.fixture
async def clients() -> AsyncIterator[Clients]:
    async with Clients() as clients:
        yield clients


@pytest.mark.parametrize("host", ["a..b", "nobody.invalid"])
async def test_a_host_that_cannot_be_resolved_is_named_with_its_listener(host: str) -> None:
    acceptor = Acceptor("CONTROLLER", ConnectionQuotas(), lambda transport, counted: None)
    with pytest.raises(InvalidValue, match=f"listener CONTROLLER: '{host}' cannot be resolved"):
        await acceptor.start(host, 0)


def quotas(**limits: int) -> ConnectionQuotas:
    return ConnectionQuotas(ConnectionLimits(**limits))  # type: ignore[arg-type]


async def test_hundreds_of_connections_of_one_address_leave_the_others_their_places(
    clients: Clients, caplog: pytest.LogCaptureFixture
) -> None:
    """max.connections.per.ip: Kafka closes at once what comes beyond it (Acceptor.accept)."""
    limited = ConnectionQuotas(ConnectionLimits(per_address=50, by_address={"127.0.0.2": 60}))
    caplog.set_level(logging.INFO, "kwire.controller.server.acceptor")
    async with echo_listener(EchoService(), quotas=limited) as port:
        readers = [await clients.connect(port, VERSIONS) for _ in range(MANY)]
        answers = await asyncio.gather(*map(answered, readers))
        assert sum(map(bool, answers)) == limited.count == 50
        assert answers[:50].count(b"") == 0  # first come, first served
        assert "127.0.0.1 is refused: it has 50, the most allowed" in caplog.messages[0]

        clients.writers[0].transport.abort()
        await eventually(lambda: limited.count == 49)
        assert await answered(await clients.connect(port, VERSIONS))


async def test_what_is_beyond_the_nodes_limit_waits_for_a_place(clients: Clients) -> None:
    """max.connections: Kafka's Acceptor waits, and the system's queue behind it grows."""
    limited = quotas(connections=3)
    async with echo_listener(EchoService(), quotas=limited) as port:
        served = [await clients.connect(port, VERSIONS) for _ in range(3)]
        assert all([await answered(reader) for reader in served])
        waiting = [await clients.connect(port, VERSIONS) for _ in range(3)]
        answers = [asyncio.create_task(answered(reader)) for reader in waiting]
        await asyncio.sleep(0.1)
        assert not any(answer.done() for answer in answers)
        assert limited.count == 3
        for closed, answer in enumerate(answers):  # a place for each that is given up, in order
            clients.writers[closed].transport.abort()
            assert await answer
        assert limited.count == 3


async def test_a_full_node_asks_its_socket_for_no_more(clients: Clients) -> None:
    """An accepted connection costs the process a file, one in the system's queue does not."""
    limited = quotas(connections=1)
    async with echo_listener(EchoService(), quotas=limited) as port:
        assert await answered(await clients.connect(port, VERSIONS))
        await clients.connect(port)
        await asyncio.sleep(0.1)  # until it does not ask any more
        before = open_files()
        late = [await clients.connect(port, VERSIONS) for _ in range(20)]
        await asyncio.sleep(0.1)
        assert open_files() == before + 20  # these clients' own
        limited.set_limits(ConnectionLimits())
        assert all([await answered(reader) for reader in late])


def open_files() -> int:
    return len(os.listdir("/dev/fd"))


async def test_a_listener_can_be_closed_while_it_is_full(clients: Clients) -> None:
    limited = quotas(connections=1)
    async with echo_listener(EchoService(), quotas=limited) as port:
        assert await answered(await clients.connect(port, VERSIONS))
        late = await clients.connect(port, VERSIONS)
        await asyncio.sleep(0.05)
    assert await answered(late) == b""
    assert limited.count == 0
    with pytest.raises(ConnectionRefusedError):
        await clients.connect(port)


async def test_connections_come_no_faster_than_the_rate(clients: Clients) -> None:
    """max.connection.creation.rate (KIP-612): the eleventh of one a second waits a second."""
    limited = quotas(rate=1)
    async with echo_listener(EchoService(), quotas=limited) as port:
        loop = asyncio.get_running_loop()
        began = loop.time()
        readers = [await clients.connect(port, VERSIONS) for _ in range(11)]
        assert all([await answered(reader) for reader in readers[:10]])
        assert loop.time() - began < 0.9
        assert await answered(readers[10])
        assert loop.time() - began >= 0.9


def altered(name: str, value: str, node: str) -> IncrementalAlterConfigsRequest:
    resource = AlterConfigsResource(
        resource_type=ResourceType.BROKER,
        resource_name=node,
        configs=[AlterableConfig(name=name, config_operation=0, value=value)],
    )
    return IncrementalAlterConfigsRequest(resources=[resource])


@pytest.mark.parametrize(
    ("name", "node", "count"),
    [
        ("max.connections", "", lambda limits: limits.connections),
        ("max.connections.per.ip", "", lambda limits: limits.per_address),
        ("max.connection.creation.rate", "3000", lambda limits: limits.rate),
        (
            "listener.name.controller.max.connections",
            "3000",
            lambda limits: limits.by_listener.get("CONTROLLER"),
        ),
    ],
)
async def test_limits_are_altered_while_the_node_runs(
    name: str, node: str, count: Callable[[ConnectionLimits], int]
) -> None:
    """Cluster-wide and of a node, as DynamicBrokerConfig has them (SocketServer.reconfigure)."""
    async with Quorum(1, properties={"max.connections.per.ip": "500"}) as quorum:
        leader = await quorum.active_controller()
        assert leader.quotas.limits == ConnectionLimits(per_address=500, inter_broker="PLAINTEXT")
        port = quorum.members[3000].port
        async with await Connection.open("127.0.0.1", port) as connection:

            async def alter() -> bool:
                answer = await connection.send(altered(name, "400", node))
                assert isinstance(answer, IncrementalAlterConfigsResponse)
                return answer.responses[0].error_code == ErrorCode.NONE

            await eventually(alter)  # not before the node has registered
            await eventually(lambda: count(leader.quotas.limits) == 400)
