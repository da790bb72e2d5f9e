"""A controller dies: what it had listened for goes on at its address, with the next leader."""

import asyncio
from pathlib import Path
from typing import cast

import pytest

from kwire.error_codes import ErrorCode
from kwire.messages import a44_incremental_alter_configs as alter
from kwire.messages.a03_metadata import MetadataRequest, MetadataResponse
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.testing.quorum import Quorum
from real_kafka import Layout
from tests.support.proxy.serve.serving_proxy import ServingProxy, serving
from tests.support.real_kafka.own_cluster import OwnCluster
from tests.support.virtual_time import in_virtual_time
from virtual_nodes.virtual_network import LinkFaults, NetworkLoop

PATIENCE = 90.0
ELECTION = 25.0
"""Seconds that a write waits for the next leader, on a machine that is busy."""

BROKER = 4
QUICK = {
    "controller.quorum.election.timeout.ms": "300",
    "controller.quorum.fetch.timeout.ms": "2000",
}


def alteration(value: str) -> alter.IncrementalAlterConfigsRequest:
    """Of the default of all brokers, which takes no broker to be there."""
    config = alter.AlterableConfig(name="log.retention.ms", config_operation=0, value=value)
    resource = alter.AlterConfigsResource(resource_type=BROKER, resource_name="", configs=[config])
    return alter.IncrementalAlterConfigsRequest(resources=[resource])


async def altered(connection: Connection, value: str) -> int:
    response = await connection.send(alteration(value))
    assert isinstance(response, alter.IncrementalAlterConfigsResponse)
    return response.responses[0].error_code


async def controller_id(connection: Connection) -> int:
    response = await connection.send(MetadataRequest(topics=[]))
    assert isinstance(response, MetadataResponse)
    return response.controller_id


def address(served: ServingProxy, node_id: int) -> Address:
    found = {one.node_id: at for one, at in served.proxy.addresses.items()}
    return found[node_id]


@pytest.mark.parametrize(("seconds", "limit"), [(3.0, None), (8.0, 180_000)])
@in_virtual_time
async def test_a_slow_cluster_is_served(tmp_path: Path, seconds: float, limit: int | None) -> None:
    """Everything takes so long each way; beyond the default by Kafka's own property."""
    config = None if limit is None else tmp_path / "client.properties"
    if config is not None:
        config.write_text(f"default.api.timeout.ms={limit}\n")
    network = cast(NetworkLoop, asyncio.get_running_loop()).network
    async with Quorum(1) as quorum:
        controllers = {id: Address(*at) for id, at in quorum.addresses.items()}
        await asyncio.sleep(5)  # it registers itself
        network.faults = LinkFaults(latency=(seconds, seconds))
        async with serving(controllers, client_config=config, lend_rights=True) as served:
            at = address(served, *controllers)
            async with await Connection.open(
                at.host, at.port, connect_timeout=300, request_timeout=300
            ) as client:
                assert await altered(client, "1") == ErrorCode.NONE
        network.heal()


@in_virtual_time
async def test_writes_go_on_through_the_port_of_the_dead_leader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kwire.proxy.serve.router.PATIENCE", ELECTION)
    async with Quorum(3, properties=QUICK) as quorum, asyncio.timeout(PATIENCE):
        controllers = {id: Address(*at) for id, at in quorum.addresses.items()}
        async with serving(controllers) as served:
            old = await quorum.active_controller()
            there = address(served, old.node_id)
            follower = address(served, next(id for id in controllers if id != old.node_id))
            async with (
                await Connection.open(there.host, there.port) as to_leader,
                await Connection.open(follower.host, follower.port) as to_follower,
            ):
                assert await altered(to_leader, "1000") == 0
                assert await altered(to_follower, "2000") == 0
                assert await controller_id(to_follower) == old.node_id
                await old.kill()
                assert await altered(to_follower, "3000") == 0
                assert await controller_id(to_follower) not in (-1, old.node_id)
            async with await Connection.open(there.host, there.port) as again:
                assert await altered(again, "4000") == 0
            image = served.mode.cluster.live.image
            while "4000" not in str(image.configs):
                await served.mode.cluster.live.changed()
                image = served.mode.cluster.live.image
        routed = [flow.notes[-1] for flow in served.flows("IncrementalAlterConfigs")]
        assert routed[:2] == [f"routed to node {old.node_id}"] * 2
        assert f"routed to node {old.node_id}" not in routed[2:]


async def test_real_controllers_fail_over_too(
    own_cluster: OwnCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kwire.proxy.serve.router.PATIENCE", ELECTION)
    cluster = own_cluster(Layout(controllers=(3000, 3001, 3002)))
    await asyncio.to_thread(cluster.start)
    controllers = {
        id: Address(at.host, at.port)
        for id, node in cluster.controllers.items()
        for at in [node.controller_address]
    }
    async with asyncio.timeout(PATIENCE), serving(controllers) as served:
        old = served.mode.cluster.live.leader_id
        there = address(served, old)
        async with await Connection.open(there.host, there.port) as connection:
            assert await altered(connection, "1000") == 0
        await asyncio.to_thread(cluster.nodes[old].kill)
        async with await Connection.open(there.host, there.port) as connection:
            assert await altered(connection, "2000") == 0
            assert await controller_id(connection) not in (-1, old)
        last = served.flows("IncrementalAlterConfigs")[-1]
        assert last.handling == "routed"
        assert last.connection.upstream != str(controllers[old])


@in_virtual_time
async def test_without_a_leader_the_client_is_told_that_time_ran_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kwire.proxy.serve.router.PATIENCE", 0.2)
    async with Quorum(3, properties=QUICK) as quorum, asyncio.timeout(PATIENCE):
        async with serving({id: Address(*at) for id, at in quorum.addresses.items()}) as served:
            leader = await quorum.active_controller()
            survivor = next(id for id in quorum.addresses if id != leader.node_id)
            at = address(served, survivor)
            async with await Connection.open(at.host, at.port) as connection:
                for id, node in quorum.nodes.items():
                    if id != survivor:
                        await node.kill()
                while served.mode.cluster.live.leader is not None:
                    await served.mode.cluster.live.changed()
                assert await altered(connection, "1000") == ErrorCode.REQUEST_TIMED_OUT
        assert served.handled("IncrementalAlterConfigs") == {"routed"}
