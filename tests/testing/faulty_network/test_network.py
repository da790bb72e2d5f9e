"""The faulty network: links are cut, messages wait and connections end, by sender and node."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from kwire.errors import AnswerLost, ConnectionFailed
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.testing import Quorum
from kwire.testing.faulty_network.fault import LEADER, FaultEvent, FaultKind
from kwire.testing.faulty_network.network import CLIENT, FaultyNetwork, source_of
from kwire.testing.faulty_network.topology import FaultNode, FaultTopology
from real_kafka import free_port
from tests.support.virtual_time import in_virtual_time

NODES = frozenset({1, 3000, 3001})


@pytest.mark.parametrize(
    ("client_id", "source"),
    [
        ("raft-client-3000", 3000),
        ("1", 1),
        ("broker-1-fetcher-0", 1),
        ("broker-1-txn-marker-sender", 1),
        ("kwire-conform-client-1", CLIENT),
        ("2", CLIENT),
        ("1st client", CLIENT),
        ("raft-client-", CLIENT),
        (None, CLIENT),
    ],
)
def test_a_node_is_known_by_its_client_id(client_id: str | None, source: int) -> None:
    assert source_of(client_id, NODES) == source


@asynccontextmanager
async def network() -> AsyncIterator[tuple[FaultyNetwork, Address]]:
    """One controller, 3000, behind the faulty network; a second node, 3001, that is not there."""
    async with Quorum(1) as quorum:
        host, port = quorum.addresses[3000]
        front = Address(host, free_port())
        nodes = (
            FaultNode(
                node_id=3000, is_controller=True, advertised=front, upstream=Address(host, port)
            ),
            FaultNode(
                node_id=3001,
                is_controller=True,
                advertised=Address(host, free_port()),
                upstream=Address(host, free_port()),
            ),
        )
        async with FaultyNetwork(FaultTopology(nodes=nodes), lambda: 3000) as network:
            yield network, front


def event(kind: FaultKind, *nodes: int, amount: float = 0.0) -> FaultEvent:
    return FaultEvent(at=0, lasts=1, kind=kind, nodes=nodes, amount=amount)


async def ask(address: Address, client_id: str, timeout: float = 0.3) -> None:
    async with await Connection.open(
        address.host, address.port, client_id=client_id, connect_timeout=timeout
    ) as connection:
        await connection.send(DescribeClusterRequest(endpoint_type=2), timeout=timeout)


@in_virtual_time
async def test_a_partition_is_between_nodes_and_clients_hear_both_sides() -> None:
    async with network() as (faulty, address):
        fault = faulty.begin(event(FaultKind.PARTITION, LEADER))
        await ask(address, "kwire-conform-client-1")
        with pytest.raises(ConnectionFailed):
            await ask(address, "raft-client-3001")
        faulty.end(fault)
        await ask(address, "raft-client-3001", timeout=5)
        assert faulty.counts[fault.event]["request held"]
        assert faulty.chosen[fault.event] == (3000,)


@in_virtual_time
async def test_what_was_held_arrives_when_the_fault_is_over() -> None:
    async with network() as (faulty, address):
        open_ = Connection.open(address.host, address.port, client_id="raft-client-3001")
        async with await open_ as connection:
            fault = faulty.begin(event(FaultKind.ONE_WAY, 3001))
            request = DescribeClusterRequest(endpoint_type=2)
            answer = asyncio.create_task(connection.send(request, timeout=5))
            await asyncio.sleep(0.2)
            assert not answer.done()
            faulty.end(fault)
            await answer


@in_virtual_time
async def test_clients_are_cut_off_alone() -> None:
    async with network() as (faulty, address):
        faulty.begin(event(FaultKind.CLIENTS, 3000))
        await ask(address, "raft-client-3001", timeout=5)
        with pytest.raises(ConnectionFailed):
            await ask(address, "kwire-conform-client-1")


@in_virtual_time
async def test_connections_end_or_fall_silent() -> None:
    async with network() as (faulty, address):
        open_ = Connection.open(address.host, address.port, client_id="x")
        async with await open_ as connection:
            fault = faulty.begin(event(FaultKind.RESET, 3000, amount=2.0))
            with pytest.raises(AnswerLost):
                await connection.send(DescribeClusterRequest(endpoint_type=2), timeout=5)
            faulty.end(fault)
        open_ = Connection.open(address.host, address.port, client_id="x")
        async with await open_ as connection:
            fault = faulty.begin(event(FaultKind.DROP, 3000, amount=2.0))
            with pytest.raises(AnswerLost, match="did not answer"):
                await connection.send(DescribeClusterRequest(endpoint_type=2), timeout=0.3)
            assert not connection.closed
            faulty.end(fault)
            await asyncio.sleep(0.1)
            assert connection.closed
