"""The records of an activation, and metadata that are refused when a node starts (KIP-866)."""

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

import vectors
from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.handlers.result import ControllerConfig, versioned
from kwire.controller.rules import CannotLead
from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.node import ControllerNode
from kwire.controller.state_machine.activation import activation_records
from kwire.controller.state_machine.quorum_controller import QuorumController
from kwire.image import EMPTY, apply_all
from kwire.image.features import ZkMigrationState
from kwire.logdir.format import FormatOptions, FormatPlan, plan, write
from kwire.logdir.names import METADATA_FOLDER, OffsetAndEpoch
from kwire.logdir.quorum_state import QuorumState, write_quorum_state
from kwire.logdir.snapshots import build_snapshot, write_snapshot
from kwire.messages.data.quorum_state_data import QuorumStateData
from kwire.messages.metadata_versions import METADATA_VERSION, metadata_version
from kwire.messages.records.begin_transaction import BeginTransactionRecord
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.messages.records.zk_migration_state import ZkMigrationStateRecord
from kwire.migration.driver.rules import MigrationRules
from kwire.migration.node.extension import MigrationExtension
from kwire.migration.node.writer import MigrationWriter
from real_kafka import free_port

ENABLED = {
    "zookeeper.metadata.migration.enable": "true",
    "zookeeper.connect": "127.0.0.1:2181",
}
NONE, MIGRATION, PRE, POST = (
    ZkMigrationState.NONE,
    ZkMigrationState.MIGRATION,
    ZkMigrationState.PRE_MIGRATION,
    ZkMigrationState.POST_MIGRATION,
)


def config(folder: Path, **more: str) -> NodeConfig:
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
        | more
    )


def formatting(config: NodeConfig, release: str | None = None) -> FormatPlan:
    options = FormatOptions(cluster_id="a-cluster", standalone=True, release_version=release)
    return plan(config.storage, options)


def settings(enabled: bool) -> ControllerConfig:
    return ControllerConfig(cluster_id="a-cluster", node_id=1, rules=MigrationRules(enabled))


def in_state(state: ZkMigrationState) -> VersionedRecord:
    return versioned(ZkMigrationStateRecord(zk_migration_state=state))


def level(release: str) -> VersionedRecord:
    number = metadata_version(release).level
    return versioned(FeatureLevelRecord(name=METADATA_VERSION, feature_level=number))


def names(records: Iterable[VersionedRecord]) -> str:
    """The types of records, and the state in place of a ZkMigrationStateRecord."""
    return " ".join(
        ZkMigrationState(record.record.zk_migration_state).name
        if isinstance(record.record, ZkMigrationStateRecord)
        else type(record.record).__name__.removesuffix("Record").removesuffix("Transaction")
        for record in records
    )


def migrating(config: NodeConfig) -> ControllerNode:
    return ControllerNode(config, extension=MigrationExtension.of(config))


async def until_state(node: ControllerNode, state: ZkMigrationState) -> None:
    async with asyncio.timeout(60):
        await node.metadata.until(lambda: node.metadata.image.features.zk_migration_state == state)


async def refused(config: NodeConfig, reason: str) -> None:
    """Start a node twice: it is refused, and releases its lock and port each time."""
    for _ in range(2):
        with pytest.raises(CannotLead, match=reason):
            await migrating(config).start()


async def test_a_directory_as_kafkas_tool_formats_it_is_led(tmp_path: Path) -> None:
    """ELR is at 1 by default; the controller resigned for ever."""
    own = config(tmp_path)
    write(formatting(own), datetime.now(UTC))

    async with ControllerNode(own) as node:
        async with asyncio.timeout(60):
            await node.metadata.until(lambda: node.metadata.image.features.elr_enabled)
        assert node.metadata.is_active


@pytest.mark.parametrize(
    ("where", "reason"),
    [("bootstrap", "at metadata.version 4.3-IV0"), ("snapshot", "created in KRaft mode")],
    ids=["bootstrap", "snapshot"],
)
async def test_a_migration_is_refused_in_a_cluster_that_was_created_without_zookeeper(
    tmp_path: Path, where: str, reason: str
) -> None:
    own = config(tmp_path, **ENABLED)
    formatted = formatting(own)
    write(formatted, datetime.now(UTC))
    if where == "snapshot":
        batches = build_snapshot(
            formatted.records,
            epoch=1,
            now=0,
            last_contained_log_timestamp=0,
            kraft_version=formatted.kraft_version,
        )
        id = OffsetAndEpoch(offset=10, epoch=1)
        write_snapshot(tmp_path / METADATA_FOLDER, id, batches)
        data = QuorumStateData(leader_id=-1, leader_epoch=1, voted_id=-1)
        write_quorum_state(tmp_path / METADATA_FOLDER, QuorumState(data=data, version=0))

    await refused(own, f"zookeeper.metadata.migration.enable is true, but.*{reason}")


async def test_a_node_without_the_migration_does_not_lead_in_the_midst_of_one(
    tmp_path: Path,
) -> None:
    own = config(tmp_path, **ENABLED)
    write(formatting(own, "3.9"), datetime.now(UTC))
    async with migrating(own) as node:
        await until_state(node, PRE)

    with pytest.raises(CannotLead, match=r"in the midst of a migration.*by `kwire controller`"):
        await ControllerNode(config(tmp_path)).start()
    async with migrating(own) as node:  # as that command runs it
        await until_state(node, PRE)


async def test_a_migration_is_in_the_log_from_its_beginning_to_its_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """PRE_MIGRATION at first; the copy; POST_MIGRATION once the setting is gone."""
    own = config(tmp_path, **ENABLED)
    write(formatting(own, "3.9"), datetime.now(UTC))
    async with migrating(own) as node:
        await until_state(node, PRE)
        writer = MigrationWriter(node.metadata, node.runtime)
        await writer.begin(node.raft.epoch)
        await writer.complete(node.raft.epoch)
        await until_state(node, MIGRATION)
    assert "no metadata can be changed until those of ZooKeeper are copied" in caplog.text

    async with migrating(config(tmp_path)) as node:
        await until_state(node, POST)
    assert "the migration from ZooKeeper is finalised, since" in caplog.text

    async with migrating(own) as node:
        async with asyncio.timeout(60):
            await node.metadata.until(lambda: node.metadata.is_active)
        await until_state(node, POST)
    assert "zookeeper.metadata.migration.enable is ignored" in caplog.text


@pytest.mark.parametrize(
    ("release", "is_open", "enabled", "written"),
    [
        pytest.param("3.4-IV0", False, False, "FeatureLevel", id="before-transactions"),
        pytest.param(
            "3.6-IV1", False, True, "Begin FeatureLevel PRE_MIGRATION End", id="migration"
        ),
        pytest.param("3.6-IV1", False, False, "Begin FeatureLevel End", id="none"),
        pytest.param(
            "3.6-IV1",
            True,
            True,
            "Abort Begin FeatureLevel PRE_MIGRATION End",
            id="migration-after-half-a-bootstrap",
        ),
        pytest.param(
            "3.6-IV1", True, False, "Abort Begin FeatureLevel End", id="none-after-half-a-bootstrap"
        ),
    ],
)
def test_an_empty_log_gets_the_state_at_the_end_of_its_bootstrap_records(
    release: str, is_open: bool, enabled: bool, written: str
) -> None:
    """The cases of Java's ActivationRecordsGeneratorTest.testActivationMessageForEmptyLog.

    Java writes NONE where no migration is enabled, kwire nothing, as Kafka 4 does.
    """
    image = apply_all(EMPTY, [versioned(BeginTransactionRecord())] if is_open else [])

    assert names(activation_records(image, [level(release)], settings(enabled))) == written


@pytest.mark.parametrize(
    ("release", "state", "is_open", "enabled", "written"),
    [
        pytest.param("3.6-IV1", NONE, True, False, "Abort", id="none"),
        pytest.param("3.6-IV1", PRE, False, True, "", id="pre"),
        pytest.param("3.6-IV1", PRE, True, True, "Abort", id="half-a-copy"),
        pytest.param("3.6-IV1", PRE, False, False, "", id="pre-not-enabled"),
        pytest.param("3.6-IV1", MIGRATION, False, True, "", id="migration"),
        pytest.param("3.4-IV0", MIGRATION, False, False, "POST_MIGRATION", id="finalised"),
        pytest.param(
            "3.6-IV1", MIGRATION, True, False, "Abort POST_MIGRATION", id="finalised-after-abort"
        ),
        pytest.param("3.4-IV0", POST, False, False, "", id="post"),
        pytest.param("3.6-IV1", POST, True, False, "Abort", id="post-after-abort"),
        pytest.param("3.4-IV0", POST, False, True, "", id="post-enabled"),
        pytest.param("3.6-IV1", POST, True, True, "Abort", id="post-enabled-after-abort"),
    ],
)
def test_a_log_with_records_is_carried_on_by_its_state(
    release: str, state: ZkMigrationState, is_open: bool, enabled: bool, written: str
) -> None:
    """The cases of Java's testActivationMessageForNonEmptyLogWithMigrations, and half a copy."""
    begun = [versioned(BeginTransactionRecord())] if is_open else []
    image = apply_all(EMPTY, [level(release), in_state(state), *begun])

    assert names(activation_records(image, [level("4.3-IV0")], settings(enabled))) == written


@pytest.mark.parametrize(
    ("release", "state", "reason"),
    [
        pytest.param("3.3-IV3", None, "metadata.version 3.3-IV3 no broker can", id="empty-3.3"),
        pytest.param("3.4-IV0", None, "metadata.version 3.4-IV0 no broker can", id="empty-3.4"),
        pytest.param("4.0-IV0", None, "metadata.version 4.0-IV0 no broker can", id="empty-4.0"),
        pytest.param("3.3-IV3", NONE, "metadata.version 3.3-IV3 no broker can", id="log-3.3"),
        pytest.param("3.4-IV0", NONE, "was created in KRaft mode", id="log-3.4"),
        pytest.param("3.6-IV1", NONE, "was created in KRaft mode", id="log-3.6"),
    ],
)
def test_a_migration_that_cannot_be_is_refused(
    release: str, state: ZkMigrationState | None, reason: str
) -> None:
    """The cases in which Java's controller ends; no release of Java's has 4.0-IV0 among them."""
    log = [] if state is None else [level(release), in_state(state)]
    image = apply_all(EMPTY, log)

    with pytest.raises(CannotLead, match=reason):
        activation_records(image, [level(release)], settings(True))
    activation_records(image, [level(release)], settings(False))


def test_sessions_begin_with_the_brokers_from_before_half_a_copy() -> None:
    """A broker that registered within the aborted transaction has no session."""
    controller = QuorumController(settings(True), Random(1))
    log = [level("3.9-IV0"), in_state(PRE), versioned(BeginTransactionRecord())]
    controller.replay([*log, versioned(RegisterBrokerRecord(broker_id=7, broker_epoch=3))], 0)

    records = controller.activate(2, 0, 4)
    controller.commit(5)

    assert names(records) == "Abort"
    assert not controller.heartbeat_manager.brokers
    assert not controller.image.cluster.brokers


@pytest.mark.java
def test_the_states_have_kafkas_numbers() -> None:
    """Kafka 3.4 had PRE_MIGRATION and MIGRATION the other way round."""
    ours = {state.name: int(state) for state in ZkMigrationState}
    assert ours == vectors.facts("3.9.1")["zk_migration_states"]
