"""A pool opens one connection to each address, whoever asks at the same time, and loses none."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest

from kwire.errors import ConnectionFailed
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.frames import RequestFrame
from kwire.net.pool import ConnectionPool
from scripted_node import SILENCE, Raw, ScriptedNode
from tests.support.eventually import eventually

CLUSTER = DescribeClusterResponse(cluster_id="the one")


async def connect(address: Address, timeout: float) -> Connection:
    return await Connection.open(address.host, address.port, connect_timeout=timeout)


class SlowNode(ScriptedNode):
    """A node that answers no ApiVersions, so that openings stay under way."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = asyncio.Event()
        self.scripts = {ApiVersionsRequest: self._silent}

    def _silent(self, request: RequestFrame) -> Raw:
        self.reached.set()
        return SILENCE


@asynccontextmanager
async def scripted_node() -> AsyncIterator[tuple[ScriptedNode, Address]]:
    async with ScriptedNode({DescribeClusterRequest: lambda request: CLUSTER}) as node:
        yield node, Address("127.0.0.1", node.port)


async def test_two_simultaneous_callers_share_one_opening() -> None:
    async with scripted_node() as (node, address):
        pool = ConnectionPool(connect)
        first, second = await asyncio.gather(pool.connection(address), pool.connection(address))
        assert first is second
        assert await pool.connection(address) is first
        assert len(node.requests(ApiVersionsRequest)) == 1
        await pool.close()
        await node.deserted()


async def test_a_failure_is_that_of_all_who_wait_and_the_next_call_opens_anew() -> None:
    async with scripted_node() as (node, address):
        await node.stop()
        pool = ConnectionPool(connect)
        failures = await asyncio.gather(
            pool.connection(address), pool.connection(address), return_exceptions=True
        )
        assert failures[0] is failures[1]
        assert isinstance(failures[0], ConnectionFailed)
        await node.start()
        assert await pool.send(address, DescribeClusterRequest()) == CLUSTER
        await pool.close()


async def test_closing_while_opening_ends_the_opening_and_fails_who_waits_for_it() -> None:
    async with SlowNode() as node:
        before = asyncio.all_tasks()
        address = Address("127.0.0.1", node.port)
        pool = ConnectionPool(connect)
        waiting = [asyncio.ensure_future(pool.connection(address)) for _ in range(2)]
        await node.reached.wait()
        await pool.close()
        failures = await asyncio.gather(*waiting, return_exceptions=True)
        assert [str(failure) for failure in failures] == [
            f"{address} is not connected to: the client was closed"
        ] * 2
        await node.deserted()
        assert asyncio.all_tasks() - before - node.serving == set()
        with pytest.raises(ConnectionFailed, match="was closed"):
            await pool.connection(address)


@pytest.mark.parametrize("steps", range(12))
async def test_no_moment_of_closing_leaves_a_connection_behind(steps: int) -> None:
    async with scripted_node() as (node, address):
        pool = ConnectionPool(connect)
        opening = asyncio.ensure_future(pool.connection(address))
        for _ in range(steps):
            await asyncio.sleep(0)
        await pool.close()
        (outcome,) = await asyncio.gather(opening, return_exceptions=True)
        assert isinstance(outcome, ConnectionFailed) or cast(Connection, outcome).closed
        await node.deserted()


async def test_a_cancelled_first_caller_leaves_the_opening_to_the_second() -> None:
    async with scripted_node() as (node, address):
        pool = ConnectionPool(connect)
        first = asyncio.ensure_future(pool.connection(address))
        second = asyncio.ensure_future(pool.connection(address))
        await asyncio.sleep(0)
        first.cancel()
        assert not (await second).closed
        assert first.cancelled()
        assert len(node.requests(ApiVersionsRequest)) == 1
        await pool.close()


async def test_the_last_caller_that_is_cancelled_ends_the_opening() -> None:
    async with SlowNode() as node:
        address = Address("127.0.0.1", node.port)
        pool = ConnectionPool(connect)
        only = asyncio.ensure_future(pool.connection(address))
        await node.reached.wait()
        only.cancel()
        await asyncio.wait([only])
        await node.deserted()
        # Another caller in the same moment does not join the cancelled opening.
        node.scripts = {DescribeClusterRequest: lambda request: CLUSTER}
        assert await pool.send(address, DescribeClusterRequest()) == CLUSTER
        await pool.close()


async def test_each_caller_waits_no_longer_than_it_wants() -> None:
    async with SlowNode() as node:
        address = Address("127.0.0.1", node.port)
        pool = ConnectionPool(connect)
        patient = asyncio.ensure_future(pool.connection(address))
        await node.reached.wait()
        with pytest.raises(ConnectionFailed, match=r"could not be connected to within 0\.0 s"):
            await pool.connection(address, within=0.01)
        assert not patient.done()
        await pool.close()
        await asyncio.wait([patient])


async def test_a_dropped_connection_stays_open_for_those_that_still_wait_on_it() -> None:
    async with scripted_node() as (node, address):
        pool = ConnectionPool(connect)
        old = await pool.connection(address)
        node.scripts[DescribeClusterRequest] = lambda request: SILENCE
        waiting = asyncio.ensure_future(old.send(DescribeClusterRequest()))
        await eventually(lambda: not old.idle)
        await pool.drop(old)
        assert not old.closed
        new = await pool.connection(address)
        assert new is not old
        waiting.cancel()
        await asyncio.wait([waiting])
        await pool.drop(new)
        assert old.closed
        assert new.closed
        await pool.close()
        await node.deserted()


async def test_a_connection_that_its_peer_closed_is_replaced() -> None:
    async with scripted_node() as (node, address):
        pool = ConnectionPool(connect)
        old = await pool.connection(address)
        await node.stop()
        await eventually(lambda: old.closed)
        await node.start()
        assert await pool.connection(address) is not old
        await pool.close()
