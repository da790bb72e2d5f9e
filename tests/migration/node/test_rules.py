"""The gate before a migration from ZooKeeper, and brokers with ZooKeeper (KIP-866).

After Kafka 3.9's QuorumControllerTest and ClusterControlManagerTest.
"""

from typing import Any
from uuid import UUID

import pytest

from kwire.codec.declaration import Request
from kwire.controller.handlers.registry import HANDLERS
from kwire.controller.handlers.result import versioned
from kwire.error_codes import ErrorCode
from kwire.image import EMPTY, apply_all
from kwire.image.features import ZkMigrationState
from kwire.messages.a20_delete_topics import DeleteTopicsRequest, DeleteTopicState
from kwire.messages.a32_describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kwire.messages.a33_alter_configs import AlterConfigsRequest, AlterConfigsResource
from kwire.messages.a44_incremental_alter_configs import (
    AlterConfigsResource as IncrementalResource,
)
from kwire.messages.a44_incremental_alter_configs import IncrementalAlterConfigsRequest
from kwire.messages.a56_alter_partition import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from kwire.messages.a57_update_features import UpdateFeaturesRequest
from kwire.messages.a62_broker_registration import BrokerRegistrationRequest, Feature, Listener
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest
from kwire.messages.a67_allocate_producer_ids import AllocateProducerIdsRequest
from kwire.messages.config_resource import ResourceType
from kwire.messages.metadata_versions import METADATA_VERSION
from kwire.messages.records.producer_ids import ProducerIdsRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.messages.records.zk_migration_state import ZkMigrationStateRecord
from kwire.migration.driver.rules import MigrationRules
from tests.support.controller.handlers.registrations import register, update

GATE = "The controller is in pre-migration mode."
PRE_MIGRATION = ZkMigrationStateRecord(zk_migration_state=ZkMigrationState.PRE_MIGRATION)
LEVEL = 21
"""3.9-IV0."""


@pytest.fixture
def waiting(make_lab: Any) -> Any:
    """A controller that waits for the copy."""
    return make_lab(level=LEVEL, rules=MigrationRules(True))


@pytest.fixture
def migrating(waiting: Any) -> Any:
    """A controller that writes to both."""
    waiting.write(ZkMigrationStateRecord(zk_migration_state=ZkMigrationState.MIGRATION))
    return waiting


def broker(lab: Any, id: int, level: int = LEVEL, **changes: Any) -> BrokerRegistrationRequest:
    """A registration with one level of metadata.version, the inter.broker.protocol.version."""
    features = [
        Feature(name=METADATA_VERSION, min_supported_version=level, max_supported_version=level)
    ]
    request: BrokerRegistrationRequest = lab.registration(id, features=features)
    return request.replace(**changes)


def zk_broker(lab: Any, id: int, level: int = LEVEL, **changes: Any) -> BrokerRegistrationRequest:
    return broker(lab, id, level, is_migrating_zk_broker=True, **changes)


def code(lab: Any, request: Request) -> int:
    answer: int = lab.ask(request).error_code
    return answer


def isr_of(id: int, partition: int, epoch: int, isr: tuple[int, ...]) -> AlterPartitionRequest:
    states = [BrokerState(broker_id=broker) for broker in isr]
    data = PartitionData(
        partition_index=partition, leader_epoch=0, partition_epoch=0, new_isr_with_epochs=states
    )
    topics = [TopicData(topic_id=UUID(int=id), partitions=[data])]
    return AlterPartitionRequest(broker_id=1, broker_epoch=epoch, topics=topics)


def test_four_apis_run_before_the_copy() -> None:
    """Java's RUNS_IN_PREMIGRATION, which the controller's own NoOpRecords and copy have, too."""
    features = apply_all(EMPTY, [versioned(PRE_MIGRATION)]).features
    flagged = [
        handler.request.__name__
        for handler in HANDLERS.values()
        if MigrationRules(True).refusal(handler.request(), features) is None
    ]
    assert flagged == [
        "BrokerRegistrationRequest",
        "BrokerHeartbeatRequest",
        "UnregisterBrokerRequest",
        "ControllerRegistrationRequest",
    ]


def test_other_writes_are_refused_before_the_copy(waiting: Any) -> None:
    start = waiting.end_offset

    assert code(waiting, AllocateProducerIdsRequest(broker_id=1)) == ErrorCode.NOT_CONTROLLER
    assert update(waiting, METADATA_VERSION, 20, 2) == (ErrorCode.NOT_CONTROLLER, GATE)
    assert code(waiting, UpdateFeaturesRequest()) == ErrorCode.NOT_CONTROLLER
    assert code(waiting, isr_of(1, 0, 1, (1,))) == ErrorCode.NOT_CONTROLLER
    assert waiting.end_offset == start


def test_requests_that_change_nothing_are_answered_before_the_copy(waiting: Any) -> None:
    assert code(waiting, AlterPartitionRequest(broker_id=1)) == ErrorCode.NONE


@pytest.mark.parametrize(
    ("resources", "answers"),
    [
        ([(ResourceType.TOPIC, "t")] * 2, {ErrorCode.INVALID_REQUEST}),
        ([(77, "t")], {ErrorCode.UNSUPPORTED_VERSION}),
        ([(77, "t"), (ResourceType.TOPIC, "t")], {ErrorCode.NOT_CONTROLLER}),
    ],
    ids=["twice", "unknown-type", "one-of-two"],
)
def test_configurations_are_refused_one_by_one_before_the_copy(
    waiting: Any, resources: list[tuple[int, str]], answers: set[ErrorCode]
) -> None:
    """Java's ControllerApis asks the controller for the rest, if there is one."""
    all_keys = [
        AlterConfigsResource(resource_type=type, resource_name=name) for type, name in resources
    ]
    some_keys = [
        IncrementalResource(resource_type=type, resource_name=name) for type, name in resources
    ]
    for request in (
        AlterConfigsRequest(resources=all_keys),
        IncrementalAlterConfigsRequest(resources=some_keys),
    ):
        assert {response.error_code for response in waiting.ask(request).responses} == answers


def test_unknown_topics_are_unknown_before_the_copy(waiting: Any) -> None:
    topics = [DeleteTopicState(name="t"), DeleteTopicState(topic_id=UUID(int=5))]
    responses = waiting.ask(DeleteTopicsRequest(timeout_ms=9000, topics=topics)).responses
    assert {response.error_code for response in responses} == {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
    }


def test_registrations_run_before_the_copy(waiting: Any) -> None:
    assert code(waiting, zk_broker(waiting, 1)) == ErrorCode.NONE
    assert waiting.heartbeat(1).error_code == ErrorCode.NONE
    assert not waiting.image.cluster.brokers[1].fenced
    assert register(waiting, 3001) == ErrorCode.NONE
    assert code(waiting, UnregisterBrokerRequest(broker_id=1)) == ErrorCode.NONE
    assert not waiting.image.cluster.brokers


def test_no_session_ends_before_the_copy(make_lab: Any) -> None:
    """Java's maybeFenceReplicas has no flag; a lab without NoOpRecords has nothing to do at all."""
    lab = make_lab(level=LEVEL, rules=MigrationRules(True))
    lab.ask(zk_broker(lab, 1))
    lab.heartbeat(1)

    assert lab.controller.deadline() is None
    assert lab.tick(after=60_000) == []
    assert not lab.controller.is_tick_long(lab.now)
    lab.write(ZkMigrationStateRecord(zk_migration_state=ZkMigrationState.MIGRATION))
    assert lab.controller.deadline() < lab.now
    assert len(lab.tick()) == 1
    assert lab.image.cluster.brokers[1].fenced


def test_a_log_that_rests_gets_no_op_records_before_the_copy(make_lab: Any) -> None:
    lab = make_lab(level=LEVEL, rules=MigrationRules(True), no_op_interval_ms=500)

    assert lab.controller.deadline() == lab.now + 500
    assert [type(record.record).__name__ for record in lab.tick(after=500)] == ["NoOpRecord"]


def test_the_record_of_a_broker_with_zookeeper_says_so(waiting: Any) -> None:
    """As a controller of 3.9.1 writes it: version 3, directories, one level of metadata.version."""
    waiting.ask(zk_broker(waiting, 1))

    (written,) = waiting.log[-1:]
    record = written.record
    assert isinstance(record, RegisterBrokerRecord)
    assert written.version == 3
    assert record.is_migrating_zk_broker
    assert record.fenced
    (levels,) = record.features
    assert (levels.min_supported_version, levels.max_supported_version) == (LEVEL, LEVEL)


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        pytest.param({"level": 20}, ErrorCode.UNSUPPORTED_VERSION, id="older-protocol-version"),
        pytest.param({"level": 22}, ErrorCode.UNSUPPORTED_VERSION, id="newer-protocol-version"),
        pytest.param(
            {"listeners": [Listener(name="CLIENTS", host="h", port=1)]},
            ErrorCode.INVALID_REGISTRATION,
            id="listener",
        ),
        pytest.param({"log_dirs": ()}, ErrorCode.INVALID_REGISTRATION, id="directories"),
        pytest.param(
            {"is_migrating_zk_broker": False}, ErrorCode.BROKER_ID_NOT_REGISTERED, id="kraft"
        ),
        pytest.param(
            {"cluster_id": "another"}, ErrorCode.INCONSISTENT_CLUSTER_ID, id="another-cluster"
        ),
    ],
)
def test_a_registration_before_the_copy_is_refused(
    waiting: Any, changes: dict[str, Any], refusal: ErrorCode
) -> None:
    """The codes are those of a controller of 3.9.1 in state PRE_MIGRATION."""
    assert code(waiting, zk_broker(waiting, 1)) == ErrorCode.NONE
    waiting.now += 9001
    again = zk_broker(waiting, 1, changes.get("level", LEVEL))
    rest = {name: value for name, value in changes.items() if name != "level"}

    assert code(waiting, again.replace(incarnation_id=UUID(int=7), **rest)) == refusal


def test_the_listener_among_brokers_is_that_of_the_settings(make_lab: Any) -> None:
    lab = make_lab(level=LEVEL, rules=MigrationRules(True, "INTERNAL"))
    listeners = [Listener(name="INTERNAL", host="h", port=1)]

    assert code(lab, zk_broker(lab, 1)) == ErrorCode.INVALID_REGISTRATION
    assert code(lab, zk_broker(lab, 1, listeners=listeners)) == ErrorCode.NONE


def test_a_broker_is_restarted_without_zookeeper_once_its_session_is_over(migrating: Any) -> None:
    """Its id stays; while the first process lives another one cannot take it."""
    migrating.ask(zk_broker(migrating, 1))
    migrating.heartbeat(1)
    kraft = broker(migrating, 1, incarnation_id=UUID(int=8))

    assert code(migrating, kraft) == ErrorCode.DUPLICATE_BROKER_REGISTRATION
    migrating.tick(after=9001)
    assert code(migrating, kraft) == ErrorCode.NONE
    assert not migrating.image.cluster.brokers[1].is_migrating_zk_broker
    # And back, before the migration is finalised.
    migrating.tick(after=9001)
    assert code(migrating, zk_broker(migrating, 1, incarnation_id=UUID(int=9))) == ErrorCode.NONE
    assert migrating.image.cluster.brokers[1].is_migrating_zk_broker


@pytest.mark.parametrize("level", [7, LEVEL, 30])
def test_no_broker_with_zookeeper_registers_where_no_migration_is_enabled(
    make_lab: Any, level: int
) -> None:
    lab = make_lab(level=level)

    assert code(lab, zk_broker(lab, 1, level)) == ErrorCode.BROKER_ID_NOT_REGISTERED


def test_producer_ids_go_on_where_zookeepers_end(migrating: Any) -> None:
    """Zombies of transactional producers must not share ids with new ones."""
    migrating.write(ProducerIdsRecord(broker_id=0, broker_epoch=-1, next_producer_id=5000))
    migrating.ask(zk_broker(migrating, 1))
    epoch = migrating.image.cluster.brokers[1].epoch

    block = migrating.ask(AllocateProducerIdsRequest(broker_id=1, broker_epoch=epoch))

    assert (block.producer_id_start, block.producer_id_len) == (5000, 1000)


def test_no_secret_of_the_migration_is_described(make_lab: Any) -> None:
    """Kafka 4 has no such settings, and names without a type are hidden."""
    secrets = {
        "kwire.zookeeper.digest": "kafka:hush",
        "password.encoder.secret": "hush",
        "zookeeper.ssl.keystore.password": "hush",
    }
    lab = make_lab(level=LEVEL, rules=MigrationRules(True), static=secrets)
    resource = DescribeConfigsResource(
        resource_type=ResourceType.BROKER, resource_name="3000", configuration_keys=None
    )

    answer = lab.ask(DescribeConfigsRequest(resources=[resource], include_synonyms=True))

    (result,) = answer.results
    assert secrets.keys() <= {config.name for config in result.configs}
    assert "hush" not in repr(answer)


def test_metadata_version_stays_while_the_migration_is_under_way(migrating: Any) -> None:
    refusal, _ = update(migrating, METADATA_VERSION, 20, 2)
    assert refusal == ErrorCode.INVALID_UPDATE_VERSION
    refusal, text = update(migrating, METADATA_VERSION, LEVEL)
    assert refusal == ErrorCode.INVALID_UPDATE_VERSION
    assert "a migration from ZooKeeper is under way" in text

    migrating.write(ZkMigrationStateRecord(zk_migration_state=ZkMigrationState.POST_MIGRATION))
    assert update(migrating, METADATA_VERSION, LEVEL)[0] == ErrorCode.NONE


def test_a_smaller_isr_has_a_higher_leader_epoch_for_brokers_with_zookeeper(
    migrating: Any, make_lab: Any
) -> None:
    """Java: PartitionChangeBuilder.triggerLeaderEpochBumpForIsrShrinkIfNeeded."""
    other = make_lab(level=LEVEL)
    for lab in (migrating, other):
        for id in (1, 2):
            lab.ask(broker(lab, id))
            lab.heartbeat(id)
        topic = lab.create("t", (1, 2))
        epoch = lab.image.cluster.brokers[1].epoch
        assert code(lab, isr_of(topic.int, 0, epoch, (1,))) == ErrorCode.NONE
        assert lab.partition("t").isr == (1,)

    assert (migrating.partition("t").leader_epoch, other.partition("t").leader_epoch) == (1, 0)
