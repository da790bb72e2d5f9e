"""Controllers of kwire's and of Kafka's in one quorum: they join, vote and lead in turn."""

import asyncio
import contextlib
from pathlib import Path

import pytest

from kwire.testing.quorum import Quorum
from real_kafka import Launcher, Layout
from real_kafka.metadata_quorum import COMMAND, add_controller, current_voters
from tests.support.controller.live.java_nodes import (
    JavaNodes,
    kwire_controller,
    log_bytes,
    until_active,
    until_caught_up,
    until_voters,
)
from tests.support.real_kafka.own_cluster import OwnCluster

ALONE = Layout(controllers=(3000,))


async def test_kwires_controllers_join_a_quorum_of_kafkas_and_take_over(
    own_cluster: OwnCluster, tmp_path: Path
) -> None:
    cluster = own_cluster(ALONE)
    await asyncio.to_thread(cluster.start)
    java = cluster.nodes[3000]
    async with contextlib.AsyncExitStack() as running:
        first = await running.enter_async_context(kwire_controller(cluster, 3100, tmp_path))
        await until_voters(first, {3000, 3100})
        second = await running.enter_async_context(kwire_controller(cluster, 3101, tmp_path))
        await until_voters(second, {3000, 3100, 3101})
        assert set(await asyncio.to_thread(current_voters, cluster)) == {3000, 3100, 3101}

        await asyncio.to_thread(java.kill)
        leader = await until_active(first, second)
        await asyncio.to_thread(java.start)
        end = leader.raft.high_watermark or 0
        for node_id in (3000, 3100, 3101):
            await until_caught_up(leader, node_id)

        folders = [tmp_path / f"node-{node.node_id}" for node in (first, second)]
        logs = [log_bytes(folder, end) for folder in (*folders, Path(java.folder) / "data")]
        assert len(logs[0]) > 0
        assert len(set(logs)) == 1


@pytest.mark.parametrize("version", ["4.3.1", pytest.param("4.4.0", marks=pytest.mark.releases)])
async def test_a_controller_of_kafkas_joins_a_quorum_of_kwires_and_outlives_it(
    kafka: Launcher, version: str
) -> None:
    async with Quorum(2) as quorum:
        java = JavaNodes(kafka, quorum, version)
        try:
            joining = java.make(3200, "controller", {"controller.quorum.auto.join.enable": "true"})
            await asyncio.to_thread(joining.start)
            leader = await quorum.active_controller()
            await until_voters(leader, {3000, 3001, 3200})
            await until_caught_up(leader, 3200)

            await leader.kill()
            (other,) = quorum.nodes.values()
            async with asyncio.timeout(60):
                await other.metadata.until(
                    lambda: other.metadata.is_active or other.raft.leader_id == 3200
                )
            assert joining.alive
        finally:
            await asyncio.to_thread(java.close)


async def test_kafkas_own_tool_adds_and_removes_a_controller_of_kafkas(kafka: Launcher) -> None:
    async with Quorum(3) as quorum:
        java = JavaNodes(kafka, quorum)
        try:
            joining = java.make(3200, "controller")
            await asyncio.to_thread(joining.start)
            leader = await quorum.active_controller()
            await until_caught_up(leader, 3200)
            assert "Added controller 3200" in await asyncio.to_thread(add_controller, joining)
            await until_voters(leader, {3000, 3001, 3002, 3200})
            told = await asyncio.to_thread(
                joining.tool,
                COMMAND,
                *("--bootstrap-controller", quorum.bootstrap_controllers, "remove-controller"),
                *("--controller-id", "3200"),
                *("--controller-directory-id", joining.directory_id),
            )
            assert told.returncode == 0, told.stderr
            await until_voters(leader, {3000, 3001, 3002})
        finally:
            await asyncio.to_thread(java.close)
