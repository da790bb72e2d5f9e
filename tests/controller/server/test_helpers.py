"""The helpers of a node go on, whatever its settings and other nodes are."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kwire.controller.server import node as node_module
from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.limits_reload import LimitsReloader
from kwire.controller.server.node import ControllerNode
from kwire.logdir.format import FormatOptions, plan, write
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kwire.messages.config_resource import ResourceType
from kwire.net.connection import Connection
from kwire.testing.quorum import Quorum
from real_kafka import free_port
from tests.support.eventually import eventually
from tests.support.virtual_time import in_virtual_time

CLUSTER = "one"
OVERRIDES = "max.connections.per.ip.overrides"


async def alter(node: ControllerNode, value: str, name: str = OVERRIDES) -> None:
    async with await Connection.open("127.0.0.1", node.config.listeners[0].port) as connection:
        config = AlterableConfig(name=name, config_operation=0, value=value)
        resource = AlterConfigsResource(
            resource_type=ResourceType.BROKER, resource_name="", configs=[config]
        )
        await connection.send(IncrementalAlterConfigsRequest(resources=[resource]))


async def limit_of_an_address(node: ControllerNode) -> int:
    return node.quotas.limit_of("127.0.0.9")


@pytest.mark.parametrize("host", ["a..b", ".", "x" * 64])
@in_virtual_time
async def test_a_limit_of_a_host_that_is_no_name_leaves_later_ones_in_force(
    host: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with Quorum(1) as quorum:
        leader = await quorum.active_controller()
        await alter(leader, f"{host}:3")
        await alter(leader, "127.0.0.9:7")
        await eventually(lambda: limit_of_an_address(leader), lambda limit: limit == 7)
    assert f"{host!r} is not known: that is no name of a host" in caplog.text


@in_virtual_time
async def test_a_quorum_that_is_told_to_take_no_connections_goes_on() -> None:
    async with Quorum(3) as quorum:
        leader = await quorum.active_controller()
        await alter(leader, "0", "max.connections")
        await asyncio.sleep(5)
        assert await quorum.active_controller() is leader
        await alter(leader, "127.0.0.9:7")


@in_virtual_time
async def test_a_helper_that_fails_is_told_and_begins_anew(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    fails = [True]
    run = LimitsReloader.run

    async def run_once_it_can(self: LimitsReloader) -> None:
        if fails:
            fails.clear()
            raise RuntimeError("nobody expects this")
        await run(self)

    monkeypatch.setattr(LimitsReloader, "run", run_once_it_can)
    async with Quorum(1) as quorum:
        leader = await quorum.active_controller()
        await alter(leader, "127.0.0.9:7")
        await asyncio.sleep(node_module.HELPER_PAUSE + 1)
        assert await limit_of_an_address(leader) == 7
    assert "LimitsReloader failed, and begins anew in 10 s" in caplog.text


@in_virtual_time
async def test_two_controllers_of_one_id_are_told_and_do_not_fill_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    properties = {"metadata.max.idle.interval.ms": "0"}
    async with Quorum(1, cluster_id=CLUSTER, properties=properties) as quorum:
        leader = await quorum.active_controller()
        configs = [twin_config(tmp_path / name, quorum.bootstrap_controllers) for name in "ab"]
        with caplog.at_level(logging.WARNING, "kwire.controller.server.registration"):
            async with ControllerNode(configs[0]), ControllerNode(configs[1]):
                await asyncio.sleep(30)
                before = leader.raft.metrics.log_end_offset
                await asyncio.sleep(60)
                assert 1 < leader.raft.metrics.log_end_offset - before < 16
    told = [text for text in caplog.messages if "has registered with the node.id 7" in text]
    assert len(told) == 2


def twin_config(folder: Path, bootstrap: str) -> NodeConfig:
    config = NodeConfig.of(
        {
            "process.roles": "controller",
            "node.id": "7",
            "log.dirs": str(folder),
            "listeners": f"CONTROLLER://127.0.0.1:{free_port()}",
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.bootstrap.servers": bootstrap,
        }
    )
    options = FormatOptions(cluster_id=CLUSTER, no_initial_controllers=True)
    write(plan(config.storage, options), datetime.now(UTC))
    return config
