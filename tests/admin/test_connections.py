"""A client opens one connection to each node, when it needs it, and leaves none behind."""

import asyncio

import pytest

from kwire.admin import AdminClient
from kwire.errors import AnswerLost, InvalidValue
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.frames import RequestFrame
from kwire.net.pool import ConnectionPool
from scripted_node import SILENCE, Raw, ScriptedNode
from scripted_quorum import scripted_quorum
from tests.support.virtual_time import in_virtual_time


async def test_many_operations_at_once_share_one_connection() -> None:
    async with scripted_quorum(1) as one:
        async with AdminClient(bootstrap_controllers=one.addresses()) as admin:
            await asyncio.gather(*(admin.describe_metadata_quorum() for _ in range(20)))
        await one.nodes[0].deserted()
        assert len(one.nodes[0].requests(ApiVersionsRequest)) == 1
        assert one.asked() == [20]


async def test_a_client_that_is_never_asked_connects_to_nobody() -> None:
    async with scripted_quorum(1) as one:
        async with AdminClient(bootstrap_controllers=one.addresses()):
            pass
        assert one.nodes[0].asked == []


@in_virtual_time
async def test_an_operation_that_gives_up_leaves_the_others_their_connection() -> None:
    asked = asyncio.Event()

    def silent(request: RequestFrame) -> Raw:
        asked.set()
        return SILENCE

    async with scripted_quorum(1) as one:
        one.nodes[0].scripts[DescribeQuorumRequest] = silent
        async with AdminClient(bootstrap_servers=one.addresses()) as admin:
            patient = asyncio.ensure_future(admin.describe_metadata_quorum(timeout=60))
            await asked.wait()
            with pytest.raises(AnswerLost):
                await admin.describe_metadata_quorum(timeout=0.05)
            (kept,) = admin._connections._retired
            assert not kept.closed
            patient.cancel()
            with pytest.raises(asyncio.CancelledError):
                await patient
        await one.nodes[0].deserted()


async def test_a_cancelled_operation_leaves_no_task_and_the_client_usable() -> None:
    async with scripted_quorum(1) as one:
        before = asyncio.all_tasks()
        async with AdminClient(bootstrap_controllers=one.addresses()) as admin:
            for steps in range(6):
                operation = asyncio.ensure_future(admin.describe_metadata_quorum())
                for _ in range(steps):
                    await asyncio.sleep(0)
                operation.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await operation
            assert (await admin.describe_metadata_quorum()).leader_epoch == 7
        assert asyncio.all_tasks() - before - one.nodes[0].serving == set()


def test_a_client_belongs_to_one_event_loop() -> None:
    pool = ConnectionPool(lambda address, within: Connection.open(address.host, address.port))

    async def ask() -> None:
        async with ScriptedNode() as node:
            await pool.connection(Address.parse(node.address))

    asyncio.run(ask())
    with pytest.raises(InvalidValue, match="belong to another event loop: open a client in each"):
        asyncio.run(ask())
