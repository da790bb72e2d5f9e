"""Clients that cannot bootstrap at a controller do, through the proxy: nothing else is there."""

import asyncio
from functools import partial
from uuid import uuid4

import pytest

from clients.programs import PROGRAMS
from real_kafka import Cluster
from tests.support.clients.task_outcome import TaskOutcome, run_task
from tests.support.proxy.serve.serving_proxy import controllers, serving

PATIENCE = 120.0
CLIENTS = [client for client in PROGRAMS if client != "kwire"]
IN_PYTHON = [client for client in CLIENTS if PROGRAMS[client].language == "python"]
IN_OTHERS = [client for client in CLIENTS if client not in IN_PYTHON]


@pytest.mark.parametrize("client", IN_PYTHON)
async def test_a_python_client_lists_creates_and_deletes(quorum: Cluster, client: str) -> None:
    await assert_administers(quorum, client)


async def test_a_combined_node_is_one_node(combined: Cluster) -> None:
    async with asyncio.timeout(PATIENCE), serving(controllers(combined)) as served:
        outcome = await administer("kafka-python", served.bootstrap)
    assert outcome.lines == lines_of("1")


async def test_kafkas_client_of_4_4_asks_in_version_5_and_is_served(kafka440: Cluster) -> None:
    async with asyncio.timeout(PATIENCE), serving(controllers(kafka440)) as served:
        outcome = await administer("java", served.bootstrap)
    assert outcome.lines == lines_of("1")
    assert 5 in {flow.version for flow in served.flows("ApiVersions")}
    assert served.problems == []


@pytest.mark.parametrize("client", IN_OTHERS)
@pytest.mark.timeout(600)  # it may have to be built
async def test_a_client_in_another_language_does_the_same(quorum: Cluster, client: str) -> None:
    await assert_administers(quorum, client)


async def assert_administers(quorum: Cluster, client: str) -> None:
    """Assert that a client sees all four nodes, and its topic come and go."""
    async with asyncio.timeout(PATIENCE), serving(controllers(quorum)) as served:
        outcome = await administer(client, served.bootstrap)
    assert outcome.lines == lines_of("1 3000 3001 3002"), outcome.errors
    assert served.handled("Metadata") == {"answered"}
    assert served.handled("CreateTopics") == served.handled("DeleteTopics") == {"routed"}
    assert served.problems == []


async def administer(client: str, bootstrap: str) -> TaskOutcome:
    """Run the task of the admin client."""
    task = partial(run_task, client, bootstrap, "admin", topic=f"by-{client}-{uuid4()}")
    return await asyncio.to_thread(task)


def lines_of(nodes: str) -> list[str]:
    """Return what a program prints if all is done."""
    return ["done create", "done list", f"done describe {nodes}", "done delete"]
