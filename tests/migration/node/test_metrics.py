"""The metrics of a migration are served under Kafka's names, and say what the driver does."""

from unittest.mock import patch

import pytest

from kwire.controller.handlers.result import versioned
from kwire.controller.server.metadata.metadata_runtime import MetadataRuntime
from kwire.controller.server.metrics import NodesCollector, prometheus_name
from kwire.image import apply_all
from kwire.image.features import ZkMigrationState
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.migration.node.extension import MigrationExtension
from kwire.testing.quorum import Quorum
from migrating.companions import driver_of
from real_kafka import class_path
from tests.support.metrics import class_file, has_constant, values

CONTROLLER = "kafka_controller_kafkacontroller_"

MIGRATION = {
    "zookeeper.metadata.migration.enable": "true",
    "zookeeper.connect": "127.0.0.1:9",
}


def migrating_quorum() -> Quorum:
    return Quorum(1, release="3.9", properties=MIGRATION, extension_of=MigrationExtension.of)


@pytest.mark.java
async def test_every_name_of_a_migration_is_one_of_kafka_3_9() -> None:
    jars = {jar.name: jar for jar in class_path("3.9.1")}
    classes = b"".join(
        class_file(jars["kafka-metadata-3.9.1.jar"], f"controller/metrics/{name}")
        for name in ("ControllerMetadataMetrics", "QuorumControllerMetrics")
    )
    async with migrating_quorum() as quorum:
        node = quorum.nodes[3000]
        gauges = driver_of(node).gauges().keys()
        times = [family.name for family in driver_of(node).sensors.collect()]
    assert gauges == {"ZkMigrationState", "MigratingZkBrokerCount", "ZkWriteBehindLag"}
    assert [name for name in gauges if not has_constant(classes, name)] == []
    for name in ("ZkWriteSnapshotTimeMs", "ZkWriteDeltaTimeMs"):
        assert prometheus_name("kafka.controller:type=KafkaController", name) in times
        assert has_constant(classes, name)


async def test_a_migration_shows_its_state_and_how_far_zookeeper_is_behind() -> None:
    async with migrating_quorum() as quorum:
        node = await quorum.active_controller()
        collector = NodesCollector(lambda: quorum.nodes.values())
        before = values(list(collector.collect()), node_id="3000")
        driver_of(node).sensors.dual_write_offset = node.metadata.offset - 3
        driver_of(node).sensors.wrote_snapshot(70)
        driver_of(node).sensors.wrote_delta(3)
        driver_of(node).sensors.wrote_delta(4)
        migrating = RegisterBrokerRecord(broker_id=1, is_migrating_zk_broker=True)
        brokers = [versioned(migrating), versioned(RegisterBrokerRecord(broker_id=2))]
        with patch.object(MetadataRuntime, "image", apply_all(node.metadata.image, brokers)):
            counted = driver_of(node).gauges()
        after = values(list(collector.collect()), node_id="3000")
        other = values(list(collector.collect()), node_id="3000", le="5.0")
        lag = driver_of(node).sensors.lag(9, is_active=False)
    assert before[CONTROLLER + "zkmigrationstate"] == ZkMigrationState.PRE_MIGRATION
    assert before[CONTROLLER + "migratingzkbrokercount"] == 0
    assert before[CONTROLLER + "zkwritebehindlag"] == 0
    assert counted["MigratingZkBrokerCount"] == 1
    assert after[CONTROLLER + "zkwritebehindlag"] >= 2
    assert after[CONTROLLER + "zkwritesnapshottimems_sum"] == 70
    assert after[CONTROLLER + "zkwritedeltatimems_count"] == 2
    assert other[CONTROLLER + "zkwritedeltatimems_bucket"] == 2
    assert lag == 0
