"""The recorded migration of Kafka 3.9.1: the same records, the same znodes."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from random import Random
from uuid import UUID, uuid4

from kwire.batches import RecordBatch
from kwire.batches.metadata_records import VersionedRecord, read_metadata_record
from kwire.image import EMPTY, apply_all
from kwire.image.changes import MetadataChanges
from kwire.logdir.filesystem import DISK
from kwire.logdir.segment import batches_in
from kwire.messages.records.access_control_entry import AccessControlEntryRecord
from kwire.messages.records.begin_transaction import BeginTransactionRecord
from kwire.messages.records.end_transaction import EndTransactionRecord
from kwire.messages.records.no_op import NoOpRecord
from kwire.migration.driver.copy import copied_batches
from kwire.migration.driver.dual_write import dual_write
from kwire.migration.driver.synchronisation import synchronise
from kwire.migration.driver.znode_writes.passwords import PasswordWriter
from kwire.zookeeper.password_encoder import PasswordEncoder
from migrating.memory_zookeeper import ZnodeTree
from tests.support.migration.driver.znode_trees import carried_out, comparable, metadata_in
from tests.support.migration.golden import ENCODER_SECRET, SEGMENT, golden_zookeeper

RAFT_EPOCH = 1
ENCODER = PasswordEncoder(secret=ENCODER_SECRET)
PASSWORDS = PasswordWriter(ENCODER, Random(1).randbytes)


def log_records() -> list[VersionedRecord]:
    """Return the records of Java's controller, without those that only keep the log moving."""
    file = DISK.open(SEGMENT)
    try:
        batches = [batch for _, batch in batches_in(file, SEGMENT)]
    finally:
        file.close()
    records = (
        read_metadata_record(record.value or b"")
        for batch in batches
        if isinstance(batch, RecordBatch) and not batch.is_control
        for record in batch.records()
    )
    return [item for item in records if not isinstance(item.record, NoOpRecord)]


def end_of_copy(records: list[VersionedRecord]) -> int:
    """Return the index after the transaction of the copy."""
    ends = [isinstance(item.record, EndTransactionRecord) for item in records]
    return len(ends) - ends[::-1].index(True)


def copied_by_java() -> list[VersionedRecord]:
    """Return the records inside the transaction of the copy, without the state at its end."""
    records = log_records()
    begins = [isinstance(item.record, BeginTransactionRecord) for item in records]
    begin = len(begins) - begins[::-1].index(True)
    return records[begin : end_of_copy(records) - 2]


def without_id(versioned: VersionedRecord) -> bytes:
    if isinstance(versioned.record, AccessControlEntryRecord):
        versioned.record.id = UUID(int=0)
    return versioned.encode()


def test_the_copy_has_javas_records_in_javas_order_of_kinds() -> None:
    by_java = copied_by_java()

    zookeeper = metadata_in(golden_zookeeper("claim").tree)
    (by_kwire,) = copied_batches(zookeeper, passwords=ENCODER, new_id=uuid4)

    assert Counter(map(without_id, by_kwire)) == Counter(map(without_id, by_java))
    assert kinds(by_kwire) == kinds(by_java)


def kinds(records: list[VersionedRecord]) -> list[str]:
    """Return the kinds of records after those of topics, in order."""
    names = [type(item.record).__name__ for item in records]
    last = len(names) - names[::-1].index("PartitionRecord")
    # Credentials and quotas of one user follow each other, in whatever order the users are.
    users = {"UserScramCredentialRecord": "users", "ClientQuotaRecord": "users"}
    return [name for name, _ in groupby(users.get(name, name) for name in names[last:])]


def synchronised_by_kwire() -> ZnodeTree:
    """Return ZooKeeper as it was before the claim, after kwire's synchronisation."""
    tree = golden_zookeeper("claim").tree
    records = log_records()
    image = apply_all(EMPTY, records[: end_of_copy(records)])
    return carried_out(tree, synchronise(metadata_in(tree), image, RAFT_EPOCH, PASSWORDS))


def test_a_synchronisation_leaves_javas_znodes() -> None:
    by_java = golden_zookeeper("dual-write").tree
    assert comparable(synchronised_by_kwire(), ENCODER) == comparable(by_java, ENCODER)


def test_a_topic_made_in_dual_write_has_javas_znodes() -> None:
    records = log_records()
    end = end_of_copy(records)
    before = apply_all(EMPTY, records[:end])
    changes = MetadataChanges.of(before, apply_all(before, records[end:]), records[end:])

    tree = carried_out(
        golden_zookeeper("dual-write").tree, dual_write(changes, RAFT_EPOCH, PASSWORDS)
    )

    by_java = golden_zookeeper("dual-write-later").tree
    assert "/brokers/topics/made.in.dual.write/partitions/0/state" in tree
    assert comparable(tree, ENCODER) == comparable(by_java, ENCODER)
