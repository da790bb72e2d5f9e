"""Metadata that kwire does not lead are refused when a node starts, in one sentence."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

import vectors
from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.node import ControllerNode
from kwire.controller.state_machine.activation import CannotLead, check_can_lead
from kwire.image.features import FeaturesImage, ZkMigrationState
from kwire.logdir.format import FormatOptions, FormatPlan, plan, write
from kwire.logdir.names import METADATA_FOLDER, OffsetAndEpoch
from kwire.logdir.snapshots import build_snapshot, write_snapshot
from kwire.messages.records.zk_migration_state import ZkMigrationStateRecord
from real_kafka import free_port


def config(folder: Path) -> NodeConfig:
    port = free_port()
    return NodeConfig.of(
        {
            "process.roles": "controller",
            "node.id": "3000",
            "log.dirs": str(folder),
            "listeners": f"CONTROLLER://127.0.0.1:{port}",
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.bootstrap.servers": f"127.0.0.1:{port}",
        }
    )


def formatting(config: NodeConfig) -> FormatPlan:
    return plan(config.storage, FormatOptions(cluster_id="a-cluster", standalone=True))


def state(state: ZkMigrationState) -> VersionedRecord:
    return VersionedRecord(record=ZkMigrationStateRecord(zk_migration_state=state), version=0)


async def refused(config: NodeConfig, reason: str) -> None:
    """Start a node twice: it is refused, and releases its lock and port each time."""
    for _ in range(2):
        with pytest.raises(CannotLead, match=reason):
            await ControllerNode(config).start()


async def test_a_directory_as_kafkas_tool_formats_it_is_led(tmp_path: Path) -> None:
    """ELR is at 1 by default; the controller resigned for ever."""
    own = config(tmp_path)
    write(formatting(own), datetime.now(UTC))

    async with ControllerNode(own) as node:
        async with asyncio.timeout(60):
            await node.metadata.until(lambda: node.metadata.image.features.elr_enabled)
        assert node.metadata.is_active


@pytest.mark.parametrize("where", ["bootstrap", "snapshot"])
async def test_a_move_from_zookeeper_that_is_under_way_is_refused(
    tmp_path: Path, where: str
) -> None:
    """A log of Kafka 3.9 in state Migration: its leader has to write to ZooKeeper, too."""
    own = config(tmp_path)
    formatted = formatting(own)
    records = (*formatted.records, state(ZkMigrationState.MIGRATION))
    write(replace(formatted, records=records), datetime.now(UTC))
    if where == "snapshot":
        batches = build_snapshot(
            records,
            epoch=1,
            now=0,
            last_contained_log_timestamp=0,
            kraft_version=formatted.kraft_version,
        )
        id = OffsetAndEpoch(offset=10, epoch=1)
        write_snapshot(tmp_path / METADATA_FOLDER, id, batches)

    await refused(own, "in state MIGRATION.* with the controllers of Kafka 3.9 first$")


async def test_a_refused_directory_leads_once_it_is_formatted_anew(tmp_path: Path) -> None:
    own = config(tmp_path)
    formatted = formatting(own)
    records = (*formatted.records, state(ZkMigrationState.POST_MIGRATION))
    write(replace(formatted, records=records), datetime.now(UTC))

    async with ControllerNode(own) as node:
        await node.metadata.until(lambda: node.metadata.is_active)


@pytest.mark.parametrize("state", ZkMigrationState)
def test_only_a_move_that_is_prepared_or_under_way_is_in_the_way(state: ZkMigrationState) -> None:
    features = FeaturesImage(zk_migration_state=state)
    if state in (ZkMigrationState.PRE_MIGRATION, ZkMigrationState.MIGRATION):
        with pytest.raises(CannotLead, match=state.name):
            check_can_lead(features)
    else:
        check_can_lead(features)


@pytest.mark.java
def test_the_states_have_kafkas_numbers() -> None:
    """Kafka 3.4 had PRE_MIGRATION and MIGRATION the other way round."""
    ours = {state.name: int(state) for state in ZkMigrationState}
    assert ours == vectors.facts("3.9.1")["zk_migration_states"]
