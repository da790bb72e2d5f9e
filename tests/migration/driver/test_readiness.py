"""The conditions before a copy."""

import pytest

from kwire.codec.declaration import MetadataRecord
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.migration.driver.readiness import unready_controllers, unregistered_brokers
from tests.support.migration.driver.driver_dialogue import (
    image_of,
    ready_controllers,
    zk_brokers,
)


def level(number: int) -> FeatureLevelRecord:
    return FeatureLevelRecord(name="metadata.version", feature_level=number)


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        ([level(7)], "the metadata.version 3.3-IV3 is too low"),
        ([level(8)], None),
        ([level(14)], None),
        ([level(15)], "controller 4 is not registered"),
        (ready_controllers(4, 5), "controller 6 is not registered"),
        (
            [*ready_controllers(4, 6), *ready_controllers(5, ready=False)],
            "controller 5 has not enabled zookeeper.metadata.migration.enable",
        ),
        (ready_controllers(4, 5, 6), None),
    ],
    ids=["3.3", "3.4", "3.6", "3.7", "one missing", "one not ready", "all ready"],
)
def test_every_controller_takes_part(records: list[MetadataRecord], reason: str | None) -> None:
    """Java: QuorumFeatures.reasonAllControllersZkMigrationNotReady."""
    assert unready_controllers(image_of(*records), [6, 5, 4]) == reason


def test_a_broker_takes_part_once_it_is_registered_as_a_migrating_one() -> None:
    kraft = RegisterBrokerRecord(broker_id=2, broker_epoch=2)
    image = image_of(*zk_brokers(1), kraft)
    assert unregistered_brokers(image, [3, 1, 2]) == [2, 3]
    assert unregistered_brokers(image, [1]) == []
