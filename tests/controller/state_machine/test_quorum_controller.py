"""The state machine across leaderships, after Kafka's QuorumControllerTest."""

from random import Random
from uuid import UUID

import pytest

from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import MetadataRecord
from kwire.controller.handlers.result import ControllerConfig, QuorumView
from kwire.controller.state_machine.operations import RequestOperation
from kwire.controller.state_machine.quorum_controller import QuorumController
from kwire.error_codes import ErrorCode
from kwire.image import ReplayError
from kwire.messages.a19_create_topics import CreatableTopic, CreateTopicsRequest
from kwire.messages.a57_update_features import UpdateFeaturesRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.a62_broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
)
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from kwire.messages.config_resource import ResourceType
from kwire.messages.metadata_versions import ELIGIBLE_LEADER_REPLICAS, METADATA_VERSION
from kwire.messages.records.begin_transaction import BeginTransactionRecord
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.no_op import NoOpRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.topic import TopicRecord
from kwire.net.service import RequestContext

CLUSTER = "06B-K3N1TBCNYFgruEVP0Q"
REGISTER = BrokerRegistrationRequest(
    broker_id=1,
    cluster_id=CLUSTER,
    incarnation_id=UUID(int=1),
    log_dirs=(UUID(int=500),),
    features=[Feature(name=METADATA_VERSION, min_supported_version=7, max_supported_version=30)],
)


def versioned(*records: MetadataRecord) -> list[VersionedRecord]:
    return [VersionedRecord(record=record, version=0) for record in records]


def level(name: str, number: int) -> FeatureLevelRecord:
    return FeatureLevelRecord(name=name, feature_level=number)


BOOTSTRAP = versioned(level(METADATA_VERSION, 30))


@pytest.fixture
def controller() -> QuorumController:
    return QuorumController(ControllerConfig(cluster_id=CLUSTER, node_id=1), Random(1))


def leading(controller: QuorumController) -> QuorumController:
    """Active, its bootstrap records committed; the log ends at 6."""
    controller.activate(1, now=0, end_offset=3, bootstrap=BOOTSTRAP)
    controller.commit(6)
    return controller


def names(records: tuple[VersionedRecord, ...]) -> list[str]:
    return [type(record.record).__name__.removesuffix("Record") for record in records]


def test_an_empty_log_begins_with_the_bootstrap_records_in_a_transaction(
    controller: QuorumController,
) -> None:
    """KIP-868."""
    records = controller.activate(1, now=0, end_offset=3, bootstrap=BOOTSTRAP)

    assert names(records) == ["BeginTransaction", "FeatureLevel", "EndTransaction"]
    assert controller.end_offset == 6


def test_before_transactions_the_bootstrap_records_are_one_batch(
    controller: QuorumController,
) -> None:
    bootstrap = versioned(level(METADATA_VERSION, 12))

    assert names(controller.activate(1, 0, 3, bootstrap)) == ["FeatureLevel"]


def test_a_log_with_metadata_needs_no_bootstrap(controller: QuorumController) -> None:
    controller.replay(BOOTSTRAP, 3)

    assert controller.activate(1, 0, 4, BOOTSTRAP) == ()


def test_a_transaction_that_another_leader_left_open_is_aborted(
    controller: QuorumController,
) -> None:
    begun = versioned(BeginTransactionRecord(), TopicRecord(name="a", topic_id=UUID(int=1)))
    controller.replay([*BOOTSTRAP, *begun], 3)
    assert controller.image.topics.topic("a") is None

    records = controller.activate(2, 0, 7, BOOTSTRAP)

    assert names(records) == ["AbortTransaction"]
    controller.commit(8)
    assert controller.image.topics.topic("a") is None


def test_a_bootstrap_that_was_not_finished_is_begun_again(controller: QuorumController) -> None:
    controller.replay([*versioned(BeginTransactionRecord()), *BOOTSTRAP], 3)

    records = controller.activate(2, 0, 5, BOOTSTRAP)

    assert names(records) == [
        "AbortTransaction",
        "BeginTransaction",
        "FeatureLevel",
        "EndTransaction",
    ]


@pytest.mark.parametrize(("static", "minimum"), [({}, "1"), ({"min.insync.replicas": "2"}, "2")])
def test_eligible_leader_replicas_begin_with_one_minimum_for_all_brokers(
    static: dict[str, str], minimum: str
) -> None:
    """As a controller of 4.3.1 writes it, between its bootstrap records and their end (KIP-966)."""
    config = ControllerConfig(cluster_id=CLUSTER, node_id=1, static=static)
    bootstrap = [*BOOTSTRAP, *versioned(level(ELIGIBLE_LEADER_REPLICAS, 1))]

    records = QuorumController(config, Random(1)).activate(1, 0, 3, bootstrap)

    assert names(records)[-3:] == ["FeatureLevel", "Config", "EndTransaction"]
    assert records[-2].version == 0
    assert records[-2].record == ConfigRecord(
        resource_type=ResourceType.BROKER,
        resource_name="",
        name="min.insync.replicas",
        value=minimum,
    )


def test_a_log_with_eligible_leader_replicas_has_its_minimum(controller: QuorumController) -> None:
    controller.replay([*BOOTSTRAP, *versioned(level(ELIGIBLE_LEADER_REPLICAS, 1))], 3)

    assert controller.activate(1, 0, 5) == ()


def test_what_is_not_committed_is_not_shown_and_is_forgotten_with_the_leadership(
    controller: QuorumController,
) -> None:
    leading(controller)

    answer = controller.handle(REGISTER, RequestContext(version=4), now=1, end_offset=6)

    assert answer.wait_for == 7
    assert 1 in controller.ahead.image.cluster.brokers
    assert 1 not in controller.image.cluster.brokers
    controller.resign()
    assert 1 not in controller.ahead.image.cluster.brokers
    assert controller.end_offset == 6


def test_a_commit_shows_the_batches_below_it(controller: QuorumController) -> None:
    leading(controller)
    controller.handle(REGISTER, RequestContext(version=4), now=1, end_offset=6)
    other = REGISTER.replace(broker_id=2, log_dirs=(UUID(int=600),))
    controller.handle(other, RequestContext(version=4), now=1, end_offset=7)

    controller.commit(7)

    assert set(controller.image.cluster.brokers) == {1}
    controller.commit(8)
    assert set(controller.image.cluster.brokers) == {1, 2}


def test_a_broker_epoch_is_the_start_of_its_batch_even_behind_control_records(
    controller: QuorumController,
) -> None:
    """Pitfall: a VotersRecord that raft wrote in between moves the offset."""
    leading(controller)

    answer = controller.handle(REGISTER, RequestContext(version=4), now=1, end_offset=9)

    assert isinstance(answer.response, BrokerRegistrationResponse)
    assert (answer.response.broker_epoch, controller.end_offset) == (9, 10)


def test_only_the_active_controller_writes(controller: QuorumController) -> None:
    answer = controller.handle(REGISTER, RequestContext(version=4), now=1, end_offset=0)
    assert isinstance(answer.response, BrokerRegistrationResponse)
    assert (answer.response.error_code, answer.records) == (ErrorCode.NOT_CONTROLLER, ())

    create = CreateTopicsRequest(topics=[CreatableTopic(name="a")])
    response = controller.handle(create, RequestContext(version=7), now=1, end_offset=0).response
    assert [one.error_code for one in getattr(response, "topics", [])] == [ErrorCode.NOT_CONTROLLER]


def test_every_controller_describes_the_cluster(controller: QuorumController) -> None:
    controller.replay(BOOTSTRAP, 3)
    controller.quorum = QuorumView(leader_id=2)

    request = DescribeClusterRequest(endpoint_type=2)
    answer = controller.handle(request, RequestContext(version=2), now=1, end_offset=4)

    assert (getattr(answer.response, "error_code", None), answer.wait_for) == (0, None)


def registered(controller: QuorumController) -> None:
    """Broker 1 is unfenced; the log ends at 8."""
    leading(controller)
    controller.handle(REGISTER, RequestContext(version=4), now=1, end_offset=6)
    beat = BrokerHeartbeatRequest(broker_id=1, broker_epoch=6, current_metadata_offset=6)
    controller.handle(beat, RequestContext(version=2), now=2, end_offset=7)
    controller.commit(8)


def test_a_new_leader_gives_every_broker_a_full_session(controller: QuorumController) -> None:
    registered(controller)
    controller.resign()

    controller.activate(2, now=50_000, end_offset=9)

    assert names(controller.tick(59_000, 9)) == ["NoOp"]
    assert names(controller.tick(59_001, 10)) == ["BrokerRegistrationChange"]


def test_the_deadline_is_that_of_the_next_thing_due(controller: QuorumController) -> None:
    assert controller.deadline() is None
    registered(controller)
    controller.tick(2, 8)

    assert controller.deadline() == 502
    assert names(controller.tick(502, 8)) == ["NoOp"]
    assert controller.deadline() == 1002


def test_without_no_ops_the_deadline_is_that_of_the_session() -> None:
    config = ControllerConfig(cluster_id=CLUSTER, node_id=1, no_op_interval_ms=0)
    controller = QuorumController(config, Random(1))
    registered(controller)
    controller.tick(2, 8)

    assert controller.deadline() == 9003
    assert controller.tick(9002, 8) == ()
    assert names(controller.tick(9003, 8)) == ["BrokerRegistrationChange"]


def test_a_broker_whose_heartbeat_waits_for_its_turn_is_not_fenced() -> None:
    """Not even when a request that takes long began before it came, and is taken after it."""
    config = ControllerConfig(cluster_id=CLUSTER, node_id=1, no_op_interval_ms=0)
    controller = QuorumController(config, Random(1))
    registered(controller)
    work = controller.begin(
        UpdateFeaturesRequest(), RequestContext(version=2), now=5000, end_offset=8
    )
    assert isinstance(work, RequestOperation)
    beat = BrokerHeartbeatRequest(broker_id=1, broker_epoch=6, current_metadata_offset=6)
    controller.record_contact(beat, 9000)
    controller.record_contact(beat.replace(broker_epoch=5), 12_000)  # of an earlier registration
    controller.record_contact(beat.replace(broker_id=7), 12_000)
    controller.handle(
        DescribeClusterRequest(endpoint_type=2), RequestContext(version=1), now=9000, end_offset=8
    )
    controller.finish(work, work.run())

    assert controller.tick(18_000, 8) == ()
    assert names(controller.tick(18_001, 8)) == ["BrokerRegistrationChange"]


def test_one_stale_broker_is_fenced_at_a_time(controller: QuorumController) -> None:
    registered(controller)
    other = REGISTER.replace(broker_id=2, log_dirs=(UUID(int=600),))
    controller.handle(other, RequestContext(version=4), now=3, end_offset=8)
    beat = BrokerHeartbeatRequest(broker_id=2, broker_epoch=8, current_metadata_offset=8)
    controller.handle(beat, RequestContext(version=2), now=3, end_offset=9)

    first = controller.tick(20_000, 10)
    second = controller.tick(20_000, 11)

    fenced = [getattr(one.record, "broker_id", None) for one in (*first, *second)]
    assert fenced == [1, 2]


def test_a_snapshot_replaces_what_was_known(controller: QuorumController) -> None:
    controller.replay(versioned(TopicRecord(name="old", topic_id=UUID(int=1))), 0)
    other = leading(QuorumController(controller.config, Random(1)))
    other.handle(REGISTER, RequestContext(version=4), now=1, end_offset=6)
    other.commit(7)

    controller.load(other.image.records(), end_offset=40)

    assert controller.image == other.image
    assert controller.end_offset == 40
    controller.activate(3, 0, 41)
    beat = BrokerHeartbeatRequest(broker_id=1, broker_epoch=6, current_metadata_offset=39)
    answer = controller.handle(beat, RequestContext(version=2), now=1, end_offset=41).response
    assert isinstance(answer, BrokerHeartbeatResponse)
    assert (answer.is_caught_up, answer.is_fenced) == (True, False)


def test_a_committed_record_that_does_not_fit_is_an_error(controller: QuorumController) -> None:
    with pytest.raises(ReplayError):
        controller.replay(versioned(PartitionChangeRecord()), 0)


def test_a_batch_of_nothing_but_a_no_op_moves_the_offset(controller: QuorumController) -> None:
    controller.replay(versioned(NoOpRecord(), NoOpRecord()), 10)

    assert controller.end_offset == 12


def test_the_same_seed_places_and_names_alike() -> None:
    def run() -> tuple[VersionedRecord, ...]:
        controller = QuorumController(
            ControllerConfig(cluster_id=CLUSTER, node_id=1, num_partitions=9), Random(7)
        )
        registered(controller)
        create = CreateTopicsRequest(
            topics=[CreatableTopic(name="a", num_partitions=-1, replication_factor=1)]
        )
        return controller.handle(create, RequestContext(version=7), now=9, end_offset=8).records

    assert run() == run()
