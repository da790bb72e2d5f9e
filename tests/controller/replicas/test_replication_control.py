"""Changes of partitions, record for record as a real controller wrote them.

The log is of Kafka 4.3.1 with eligible leader replicas at level 0: a broker was killed, fenced,
restarted and stopped. Each of these batches is made here from the image before it.
"""

from collections.abc import Iterator
from random import Random

from kwire.batches import read_batches
from kwire.batches.metadata_records import VersionedRecord, read_metadata_record
from kwire.controller.handlers.placement import new_partition
from kwire.controller.handlers.result import ControllerConfig, ControllerContext, QuorumView
from kwire.controller.replicas.broker_heartbeat_manager import BrokerHeartbeatManager
from kwire.controller.replicas.replication_control import FENCE, UNFENCE, ReplicationControl
from kwire.image import EMPTY, MetadataImage, apply, apply_all
from kwire.messages.records.broker_registration_change import BrokerRegistrationChangeRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord
from tests.support.paths import ROOT

LOG = (
    ROOT / "fixtures/logdirs/kafka-4.3.1-without-elr/__cluster_metadata-0/00000000000000000000.log"
)

Step = tuple[MetadataImage, list[VersionedRecord]]


def batches() -> Iterator[tuple[int, list[VersionedRecord]]]:
    for batch in read_batches(LOG.read_bytes()):
        if not batch.is_control:
            records = [read_metadata_record(record.value or b"") for record in batch.records()]
            yield batch.base_offset, records


def steps() -> Iterator[Step]:
    """Yield each batch of records about brokers' states, with the image before it."""
    image = EMPTY
    for _, records in batches():
        run: list[VersionedRecord] = []
        for record in records:
            if isinstance(record.record, PartitionChangeRecord):
                run.append(record)
                continue
            if is_change(record, FENCE):
                yield image, [*run, record]
                image = apply_all(image, [*run, record])
                run = []
                continue
            yield image, run
            image = apply_all(image, run)
            run = [record] if isinstance(record.record, BrokerRegistrationChangeRecord) else []
            image = image if run else apply(image, record)
        yield image, run
        image = apply_all(image, run)


def is_change(record: VersionedRecord, fenced: int) -> bool:
    message = record.record
    return isinstance(message, BrokerRegistrationChangeRecord) and message.fenced == fenced


def wanted(fenced: int, shutdown: int) -> list[tuple[ReplicationControl, int, list[bytes]]]:
    """The steps of such a change: the rules before it, the broker, the records as bytes."""
    found = []
    for image, run in steps():
        for record in run:
            message = record.record
            if not isinstance(message, BrokerRegistrationChangeRecord):
                continue
            if (message.fenced, message.in_controlled_shutdown) == (fenced, shutdown):
                rules = ReplicationControl(image=image, static=lambda name: None, node_id=1)
                found.append((rules, message.broker_id, encoded(run)))
    return found


def encoded(records: list[VersionedRecord]) -> list[bytes]:
    """Encode records in a fixed order: Kafka's order of partitions is that of its hash maps."""
    return sorted(record.encode() for record in records)


def test_a_broker_is_fenced_as_kafka_fences_it() -> None:
    found = wanted(FENCE, 0)
    assert max(len(written) for _, _, written in found) == 6
    for rules, broker, written in found:
        assert encoded(rules.fenced(rules.image.cluster.brokers[broker])) == written


def test_a_broker_is_unfenced_as_kafka_unfences_it() -> None:
    found = wanted(UNFENCE, 0)
    assert max(len(written) for _, _, written in found) == 2
    for rules, broker, written in found:
        assert encoded(rules.unfenced(rules.image.cluster.brokers[broker])) == written


def test_a_broker_is_shut_down_as_kafka_shuts_it_down() -> None:
    ((rules, broker, written),) = wanted(0, 1)
    assert len(written) == 6
    assert encoded(rules.in_controlled_shutdown(rules.image.cluster.brokers[broker])) == written


def test_a_new_partition_begins_as_kafka_begins_it() -> None:
    image, seen = EMPTY, 0
    for _, records in batches():
        for record in records:
            message = record.record
            if isinstance(message, PartitionRecord):
                partition = new_partition(message.replicas, context(image))
                assert partition is not None
                version = image.features.metadata_version
                ours = partition.record(message.topic_id, message.partition_id, version, elr=False)
                assert ours.encode() == record.encode()
                seen += 1
            image = apply(image, record)
    assert seen > 5


def test_a_broker_epoch_is_where_the_batch_of_its_registration_begins() -> None:
    found = [
        (offset, record.record.broker_epoch)
        for offset, records in batches()
        for record in records[:1]
        if isinstance(record.record, RegisterBrokerRecord)
    ]
    assert len(found) == 3
    assert all(offset == epoch for offset, epoch in found)


def context(image: MetadataImage) -> ControllerContext:
    return ControllerContext(
        image=image,
        heartbeat_manager=BrokerHeartbeatManager(),
        config=ControllerConfig(cluster_id="", node_id=1),
        quorum=QuorumView(),
        random=Random(0),
        now=0,
        next_offset=0,
        version=0,
    )
