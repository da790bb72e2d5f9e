"""Clients that cannot bootstrap at a controller do, through the proxy: nothing else is there."""

import asyncio
from uuid import uuid4

import pytest

from kwire.address import Address
from real_kafka import Cluster
from tests.proxy.serve.python_clients import PYTHON, Told
from tests.proxy.serve.served import serving

PATIENCE = 120.0


def controllers(cluster: Cluster) -> dict[int, Address]:
    return {
        id: Address(node.controller_address.host, node.controller_address.port)
        for id, node in cluster.controllers.items()
    }


@pytest.mark.parametrize("client", PYTHON)
async def test_a_python_client_lists_creates_and_deletes(quorum: Cluster, client: str) -> None:
    topic = f"by-{client}-{uuid4()}"
    async with asyncio.timeout(PATIENCE), serving(controllers(quorum)) as served:
        told = await asyncio.to_thread(PYTHON[client], served.bootstrap, topic)
    assert told == Told(nodes={1, 3000, 3001, 3002}, created=True, deleted=True)
    assert served.handled("Metadata") == {"answered"}
    assert served.handled("CreateTopics") == {"routed"}
    assert served.handled("DeleteTopics") == {"routed"}
    assert served.problems == []
