"""Connections beyond the limit of their address are treated as by Kafka's controller."""

from __future__ import annotations

import asyncio
from pathlib import Path

from kwire.controller.server.node import ControllerNode
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kwire.messages.config_resource import ResourceType
from kwire.net.address import Address
from kwire.net.connection import Connection
from real_kafka.choice import Launcher
from tests.support.controller.live.static_controller import StaticJava, StaticKwire
from tests.support.controller.server.echo_listener import VERSIONS, answered
from tests.support.eventually import eventually

VERSION, RELEASE = "4.3.1", "4.3"
OVERRIDES = "max.connections.per.ip.overrides"
CLIENT, OTHER = "127.0.0.2", "127.0.0.3"
PROPERTIES = {"max.connections.per.ip": "100", OVERRIDES: f"{CLIENT}:2"}
TRIES = 6

Outcomes = list[bool]
"""True for each connection that got an answer, False for one that was closed without a byte."""


async def outcomes(at: Address, host: str) -> Outcomes:
    """Open connections from an address of this machine, one after the other, and keep them."""
    found, writers = [], []
    for _ in range(TRIES):
        reader, writer = await asyncio.open_connection(at.host, at.port, local_addr=(host, 0))
        writers.append(writer)
        writer.write(VERSIONS)
        async with asyncio.timeout(60):
            found.append(await answered(reader) != b"")
    for writer in writers:
        writer.transport.abort()
    return found


async def alter(at: Address, value: str) -> int:
    """Alter the overrides for all nodes; return the error code."""
    resource = AlterConfigsResource(
        resource_type=ResourceType.BROKER,
        resource_name="",
        configs=[AlterableConfig(name=OVERRIDES, config_operation=0, value=value)],
    )
    async with await Connection.open(at.host, at.port) as connection:
        request = IncrementalAlterConfigsRequest(resources=[resource])
        answer = await connection.send(request, timeout=30)
    assert isinstance(answer, IncrementalAlterConfigsResponse)
    return answer.responses[0].error_code


async def script(at: Address) -> dict[str, Outcomes]:
    found = {"limited": await outcomes(at, CLIENT), "another": await outcomes(at, OTHER)}

    async def gone() -> bool:
        return await outcomes(at, CLIENT) == found["limited"]

    await eventually(gone, pause=0.1)  # the places are free again
    await eventually(lambda: alter(at, f"{CLIENT}:4"), lambda code: code == 0, pause=0.2)

    async def altered() -> Outcomes:
        return await outcomes(at, CLIENT)

    limit = sum(found["limited"])

    def is_settled(now: Outcomes) -> bool:
        # Connections of the round before may end within this one, and give their places back.
        return sum(now) > limit and now == sorted(now, reverse=True)

    found["altered"] = await eventually(altered, is_settled, pause=0.2)
    return found


async def test_an_address_gets_as_many_connections_as_at_kafkas_controller(
    kafka: Launcher, tmp_path: Path
) -> None:
    site = kafka.site(VERSION, lambda text: None)
    try:
        java = StaticJava(site, RELEASE, PROPERTIES)
        (voter,) = java.quorum.voters
        await asyncio.to_thread(java.node.start)
        theirs = await script(voter.address)
        await asyncio.to_thread(java.node.stop)
    finally:
        site.close()
    kwire = StaticKwire(tmp_path, RELEASE, PROPERTIES)
    (voter,) = kwire.quorum.voters
    async with ControllerNode(kwire.config):
        ours = await script(voter.address)

    assert ours == theirs
    assert theirs == {
        "limited": [True] * 2 + [False] * 4,
        "another": [True] * 6,
        "altered": [True] * 4 + [False] * 2,
    }
