"""Clients that cannot bootstrap at a controller do, through the proxy: nothing else is there."""

import asyncio
import json
import subprocess
from uuid import uuid4

import pytest

import clients
from real_kafka import Cluster
from tests.support.proxy.serve.python_clients import PYTHON_CLIENTS, ClientResult
from tests.support.proxy.serve.serving_proxy import controllers, serving

PATIENCE = 120.0
EXPECTED = ClientResult(nodes={1, 3000, 3001, 3002}, created=True, deleted=True)


@pytest.mark.parametrize("client", PYTHON_CLIENTS)
async def test_a_python_client_lists_creates_and_deletes(quorum: Cluster, client: str) -> None:
    topic = f"by-{client}-{uuid4()}"
    async with asyncio.timeout(PATIENCE), serving(controllers(quorum)) as served:
        told = await asyncio.to_thread(PYTHON_CLIENTS[client], served.bootstrap, topic)
    assert told == EXPECTED
    assert served.handled("Metadata") == {"answered"}
    assert served.handled("CreateTopics") == {"routed"}
    assert served.handled("DeleteTopics") == {"routed"}
    assert served.problems == []


async def test_a_combined_node_is_one_node(combined: Cluster) -> None:
    topic = f"combined-{uuid4()}"
    async with asyncio.timeout(PATIENCE), serving(controllers(combined)) as served:
        told = await asyncio.to_thread(PYTHON_CLIENTS["kafka-python"], served.bootstrap, topic)
    assert told == ClientResult(nodes={1}, created=True, deleted=True)


async def test_kafkas_client_of_4_4_asks_in_version_5_and_is_served(kafka440: Cluster) -> None:
    command = await asyncio.to_thread(clients.command, "kafka-clients")
    topic = f"by-4.4-{uuid4()}"
    async with asyncio.timeout(PATIENCE), serving(controllers(kafka440)) as served:
        told = await asyncio.to_thread(run, [*command, served.bootstrap, topic])
    assert told == ClientResult(nodes={1}, created=True, deleted=True)
    assert 5 in {flow.version for flow in served.flows("ApiVersions")}
    assert served.problems == []


@pytest.mark.parametrize("client", clients.PROGRAMS)
@pytest.mark.timeout(600)  # it may have to be built
async def test_a_client_in_another_language_does_the_same(quorum: Cluster, client: str) -> None:
    try:
        command = await asyncio.to_thread(clients.command, client)
    except clients.ClientUnavailable as missing:
        pytest.skip(str(missing))
    topic = f"by-{client}-{uuid4()}"
    async with asyncio.timeout(PATIENCE), serving(controllers(quorum)) as served:
        told = await asyncio.to_thread(run, [*command, served.bootstrap, topic])
    assert told == EXPECTED
    assert served.handled("Metadata") == {"answered"}
    assert served.handled("CreateTopics") == served.handled("DeleteTopics") == {"routed"}
    assert served.problems == []


def run(command: list[str]) -> ClientResult:
    """Run a program; return what it prints."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    return ClientResult(set(told["nodes"]), told["created"], told["deleted"])
