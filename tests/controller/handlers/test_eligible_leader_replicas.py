"""KIP-966 in the handlers, with cases of Kafka's ReplicationControlManagerTest
and ConfigurationControlManagerTest."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from kwire.error_codes import ErrorCode
from kwire.image.partition import NO_LEADER
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kwire.messages.a56_alter_partition import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from kwire.messages.a62_broker_registration import Feature
from kwire.messages.config_resource import ResourceType
from kwire.messages.metadata_versions import ELIGIBLE_LEADER_REPLICAS, METADATA_VERSION
from kwire.messages.records.clear_elr import ClearElrRecord
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from tests.support.controller.handlers.lab import Lab
from tests.support.controller.handlers.registrations import update

MIN_ISR = "min.insync.replicas"
FEATURES = [
    Feature(name=METADATA_VERSION, min_supported_version=7, max_supported_version=30),
    Feature(name=ELIGIBLE_LEADER_REPLICAS, min_supported_version=0, max_supported_version=1),
]


@pytest.fixture
def elr() -> Lab:
    """Three brokers, ELR at level 1, topic t on all three with min.insync.replicas 2."""
    lab = Lab()
    lab.write(FeatureLevelRecord(name=ELIGIBLE_LEADER_REPLICAS, feature_level=1))
    lab.start(1, 2, 3, features=FEATURES)
    lab.create("t", (1, 2, 3))
    assert set_min_isr(lab, ResourceType.TOPIC, "t", "2") == ErrorCode.NONE
    return lab


def set_min_isr(lab: Lab, type: int, name: str, value: str | None) -> int:
    operation = 0 if value is not None else 1
    config = AlterableConfig(name=MIN_ISR, config_operation=operation, value=value)
    resource = AlterConfigsResource(resource_type=type, resource_name=name, configs=[config])
    response = lab.ask(IncrementalAlterConfigsRequest(resources=[resource]))
    code: int = response.responses[0].error_code
    return code


def state(lab: Lab) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], int]:
    """Return ISR, ELR, last known ELR and leader of t."""
    partition = lab.partition("t")
    return partition.isr, partition.elr, partition.last_known_elr, partition.leader


def fence(lab: Lab, *ids: int) -> None:
    for id in ids:
        lab.heartbeat(id, want_fence=True)


def come_back(lab: Lab, id: int, *, clean: bool) -> None:
    """Register a new incarnation, and unfence it."""
    epoch = lab.image.cluster.brokers[id].epoch if clean else -1
    lab.register(id, features=FEATURES, incarnation_id=UUID(int=9), previous_broker_epoch=epoch)
    lab.heartbeat(id)


def test_who_leaves_an_isr_below_the_minimum_stays_eligible(elr: Lab) -> None:
    fence(elr, 1)
    assert state(elr) == ((2, 3), (), (), 2)
    fence(elr, 2)
    assert state(elr) == ((3,), (2,), (), 3)
    fence(elr, 3)
    assert state(elr) == ((), (2, 3), (3,), NO_LEADER)


def test_the_minimum_counts_the_replicas_from_before_a_request(elr: Lab) -> None:
    """Java replays what a request changes when all of it is made (getTopicEffectiveMinIsr)."""
    elr.create("two", (1, 2, 3), (1, 2, 3))
    assert set_min_isr(elr, ResourceType.TOPIC, "two", "3") == ErrorCode.NONE
    topic_id = elr.image.topics.ids["two"]
    leaving = PartitionChangeRecord(topic_id=topic_id, partition_id=0, removing_replicas=(3,))
    elr.write(leaving, version=2)
    brokers = elr.image.cluster.brokers
    isr = [BrokerState(broker_id=id, broker_epoch=brokers[id].epoch) for id in (1, 2)]
    partitions = [
        PartitionData(
            partition_index=number,
            partition_epoch=elr.partition("two", number).partition_epoch,
            new_isr_with_epochs=isr,
        )
        for number in (0, 1)
    ]
    topic = TopicData(topic_id=topic_id, partitions=partitions)
    elr.ask(AlterPartitionRequest(broker_id=1, broker_epoch=brokers[1].epoch, topics=[topic]))
    assert elr.partition("two", 0).replicas == (1, 2)
    assert elr.partition("two", 1).elr == (3,)


def test_a_replica_of_the_elr_leads_after_a_clean_stop(elr: Lab) -> None:
    fence(elr, 1, 2, 3)

    come_back(elr, 2, clean=True)

    assert state(elr) == ((2,), (3,), (), 2)
    assert elr.partition("t").leader_recovery_state == 0


def test_a_replica_that_stopped_unclean_leaves_the_elr_and_does_not_lead(elr: Lab) -> None:
    fence(elr, 1, 2, 3)

    come_back(elr, 2, clean=False)

    assert state(elr) == ((), (3,), (3,), NO_LEADER)


def test_the_last_leader_leads_again_when_nobody_has_every_record(elr: Lab) -> None:
    """Pitfall 10: without it, partitions of one replica stay offline after an unclean stop."""
    fence(elr, 1, 2, 3)
    come_back(elr, 2, clean=False)

    come_back(elr, 3, clean=False)

    assert state(elr) == ((3,), (), (), 3)
    assert elr.partition("t").leader_recovery_state == 1


@pytest.mark.parametrize("clean", [True, False])
def test_a_partition_with_one_replica_is_led_again(elr: Lab, clean: bool) -> None:
    elr.create("single", (1,))
    fence(elr, 1)
    assert elr.partition("single").leader == NO_LEADER

    come_back(elr, 1, clean=clean)

    partition = elr.partition("single")
    assert (partition.leader, partition.isr, partition.elr) == (1, (1,), ())


@pytest.mark.parametrize(("type", "name"), [(ResourceType.TOPIC, "t"), (ResourceType.BROKER, "")])
def test_another_minimum_clears_elrs(elr: Lab, type: int, name: str) -> None:
    fence(elr, 1, 2)
    assert state(elr)[1] == (2,)

    assert set_min_isr(elr, type, name, "1") == ErrorCode.NONE

    topic = name if type == ResourceType.TOPIC else ""
    assert elr.log[-1].record == ClearElrRecord(topic_name=topic)
    assert state(elr)[1] == ()


def test_brokers_have_one_minimum_for_all(elr: Lab) -> None:
    assert set_min_isr(elr, ResourceType.BROKER, "", "2") == ErrorCode.NONE
    for name, value in (("1", "2"), ("1", None), ("", None)):
        code = set_min_isr(elr, ResourceType.BROKER, name, value)
        assert code == ErrorCode.INVALID_CONFIG, (name, value)


def test_the_feature_comes_with_one_minimum_for_all_brokers() -> None:
    lab: Any = Lab(static={MIN_ISR: "3"})
    lab.start(1, 2, features=FEATURES)
    for broker in ("1", "2"):
        assert set_min_isr(lab, ResourceType.BROKER, broker, "2") == ErrorCode.NONE

    assert update(lab, ELIGIBLE_LEADER_REPLICAS, 1)[0] == ErrorCode.NONE

    written = [record.record for record in lab.log[-4:]]
    common: dict[str, Any] = {"resource_type": ResourceType.BROKER, "name": MIN_ISR}
    assert written == [
        ConfigRecord(resource_name="", value="3", **common),
        ConfigRecord(resource_name="1", value=None, **common),
        ConfigRecord(resource_name="2", value=None, **common),
        FeatureLevelRecord(name=ELIGIBLE_LEADER_REPLICAS, feature_level=1),
    ]
