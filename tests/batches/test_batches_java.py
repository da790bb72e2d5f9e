"""Record batches against Kafka's own builders and readers, in both directions."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from zlib import crc32

import pytest
from crc32c import crc32c

import vectors
from kwire.batches import (
    Batch,
    Compression,
    Record,
    RecordBatch,
    TimestampType,
    build_batch,
    build_legacy_batch,
    read_batches,
)
from kwire.batches.control_records import quorum_record, read_control_record
from kwire.batches.metadata_records import read_metadata_record
from kwire.codec.declaration import MetadataRecord
from kwire.codec.json_form import to_json
from kwire.errors import WireError
from kwire.messages.data.end_txn_marker import EndTxnMarker
from tests.support.batches.packed import CASES, REFUSED

pytestmark = pytest.mark.java

BATCH_FIELDS = (
    *("magic", "size", "base_offset", "last_offset", "partition_leader_epoch", "crc"),
    *("max_timestamp", "delete_horizon", "producer_id", "producer_epoch"),
    *("base_sequence", "last_sequence"),
)
RECORD_FIELDS = ("offset", "timestamp", "sequence", "key", "value")
TIMESTAMP_TYPES = {
    "NoTimestampType": TimestampType.NO_TIMESTAMP_TYPE,
    "CreateTime": TimestampType.CREATE_TIME,
    "LogAppendTime": TimestampType.LOG_APPEND_TIME,
}


def as_kafka_shows(batch: Batch) -> vectors.DecodedBatch:
    """A batch in the words of Kafka's reader, messages left out."""
    names = {type: name for name, type in TIMESTAMP_TYPES.items()}
    return vectors.DecodedBatch(
        **{field: getattr(batch, field) for field in BATCH_FIELDS},
        compression=Compression(batch.compression).name.lower(),
        timestamp_type=names[batch.timestamp_type],
        transactional=batch.is_transactional,
        control=batch.is_control,
        records=[
            vectors.DecodedRecord(
                **{field: getattr(record, field) for field in RECORD_FIELDS},
                headers=[(header.key, header.value) for header in record.headers],
                control_type=None,
                message=None,
            )
            for record in batch.records()
        ],
    )


def without_messages(batches: Iterable[vectors.DecodedBatch]) -> list[vectors.DecodedBatch]:
    """Return what Kafka's reader found, without the typed messages."""
    return [
        replace(
            batch,
            records=[replace(record, control_type=None, message=None) for record in batch.records],
        )
        for batch in batches
    ]


@pytest.mark.parametrize(("release", "count"), [("4.4.0", 632), ("4.3.1", 624), ("3.9.1", 616)])
def test_batches_of_every_kind_read_as_kafka_reads_them(release: str, count: int) -> None:
    kinds = Counter[str]()
    for vector in vectors.batches(release):
        found = [as_kafka_shows(batch) for batch in read_batches(vector.data)]
        assert found == without_messages(vector.decoded.batches), vector.name
        kinds[vector.name] += 1
    assert len(kinds) == 53
    assert sum(kinds.values()) == count


@pytest.mark.parametrize(
    ("release", "types"), [("4.4.0", 6 + 27), ("4.3.1", 6 + 26), ("3.9.1", 6 + 24)]
)
def test_control_and_metadata_records_are_typed_and_as_kafka_prints_them(
    release: str, types: int
) -> None:
    seen = Counter[str]()
    for vector in vectors.batches(release):
        for ours, theirs in zip(read_batches(vector.data), vector.decoded.batches, strict=True):
            for record, expected in zip(ours.records(), theirs.records, strict=True):
                if expected.message is not None:
                    check_message(ours, record, expected)
                    seen[expected.message.name] += 1
    assert len(seen) == types


def check_message(batch: Batch, record: Record, expected: vectors.DecodedRecord) -> None:
    message = expected.message
    assert message is not None
    if not batch.is_control:
        metadata = read_metadata_record(record.value or b"")
        assert isinstance(metadata.record, MetadataRecord)
        assert (type(metadata.record).__name__, metadata.version) == (message.name, message.version)
        assert to_json(metadata.record, metadata.version) == message.json
        assert metadata.encode() == record.value
        return
    control = read_control_record(record)
    assert (type(control.message).__name__, control.version) == (message.name, message.version)
    assert control.message is not None
    assert to_json(control.message, control.version) == message.json
    if not isinstance(control.message, EndTxnMarker):
        assert quorum_record(control.message).value == record.value


def rebuilt(batch: Batch) -> bytes:
    """The same batch, made again from what was read of it."""
    records = list(batch.records())
    compression = Compression(batch.compression)
    append_time = (
        batch.max_timestamp if batch.timestamp_type is TimestampType.LOG_APPEND_TIME else None
    )
    if not isinstance(batch, RecordBatch):
        return build_legacy_batch(
            records, batch.magic, compression=compression, log_append_time=append_time
        )
    return build_batch(
        records,
        base_offset=batch.base_offset,
        compression=compression,
        partition_leader_epoch=batch.partition_leader_epoch,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=batch.base_sequence,
        is_transactional=batch.is_transactional,
        is_control=batch.is_control,
        log_append_time=append_time,
        delete_horizon=batch.delete_horizon,
        last_offset=batch.last_offset,
        max_timestamp=batch.max_timestamp,
    )


@pytest.mark.parametrize(("release", "count"), [("4.4.0", 328), ("4.3.1", 320), ("3.9.1", 312)])
def test_kafka_reads_what_is_built_and_without_compression_it_is_the_same_bytes(
    release: str, count: int
) -> None:
    judged, expected, equal = [], [], Counter[str]()
    for vector in vectors.batches(release):
        ours = b"".join(map(rebuilt, read_batches(vector.data)))
        if vector.name.startswith("magic") and "LogAppendTime" in vector.name:
            pass  # the producer's own times, which the broker's hide, cannot be made again
        elif "/none/" in vector.name or not vector.name.startswith(("magic", "several")):
            assert ours == vector.data, vector.name
            equal["plain"] += 1
        judged.append(ours)
        expected.append(vector.decoded)
    for theirs, wanted in zip(vectors.judge_batches(release, judged), expected, strict=True):
        assert theirs.error is None
        assert [seen(batch) for batch in theirs.batches] == [
            seen(log_batch) for log_batch in wanted.batches
        ]
    assert equal["plain"] == count


def seen(batch: vectors.DecodedBatch) -> dict[str, object]:
    """Return what Kafka read, without what depends on how well a codec compresses."""
    fields = {name: getattr(batch, name) for name in batch.__slots__}
    del fields["crc"], fields["size"]
    fields["records"] = [
        {name: getattr(record, name) for name in (*RECORD_FIELDS, "headers")}
        for record in batch.records
    ]
    return fields


EXTREMES = [b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\0"]


def mutants(count: int, seed: int) -> Iterator[bytes]:
    """Batches with something changed and the CRC made to fit again, mostly."""
    draw = random.Random(seed)
    whole = [vector.data for vector in vectors.batches("4.3.1") if len(vector.data) < 3000]
    for _ in range(count):
        data = bytearray(draw.choice(whole))
        place = draw.randrange(len(data))
        match draw.randrange(4):
            case 0:
                data[place] ^= 1 << draw.randrange(8)
            case 1:
                data[place] = draw.randrange(256)
            case 2:
                del data[place:]
                data[8:12] = max(len(data) - 12, 0).to_bytes(4, "big")
            case 3:
                data[place : place + 4] = draw.choice(EXTREMES)
        yield sealed(data) if draw.random() < 0.9 else bytes(data)


def sealed(data: bytearray) -> bytes:
    if len(data) > 61 and data[16] == 2:
        data[17:21] = crc32c(bytes(data[21:])).to_bytes(4, "big")
    elif len(data) > 16:
        data[12:16] = crc32(bytes(data[16:])).to_bytes(4, "big")
    return bytes(data)


def verdicts(buffers: Iterable[bytes]) -> Iterator[bool]:
    """Return for each whether Kafka reads it; some make its libraries end the process."""
    left = iter(buffers)
    data = next(left, None)
    while data is not None:
        with vectors.BatchJudge("4.3.1") as judge:
            try:
                while data is not None:
                    yield judge(data).error is None
                    data = next(left, None)
            except vectors.VectorsError:
                yield False
                data = next(left, None)


def accepted(data: bytes) -> bool:
    try:
        for batch in read_batches(data):
            for record in batch.records():
                if batch.is_control:
                    read_control_record(record)
    except WireError:
        return False
    return True


def test_batches_that_kafka_refuses_are_refused_and_the_others_are_not() -> None:
    """Of 6,000, 6 and 7 differ: a length of 2^31 - 1, which Kafka adds up past the end of its
    integers or has no memory for, and control records of versions that nobody knows."""
    made = list(mutants(1_000, seed=482))
    theirs = list(verdicts(made))
    ours = list(map(accepted, made))
    agreed = sum(mine == other for mine, other in zip(ours, theirs, strict=True))
    assert agreed >= 0.995 * len(made)
    assert min(theirs.count(True), theirs.count(False)) > 300


def test_compressed_data_that_kafka_refuses_are_known() -> None:
    with vectors.BatchJudge("4.3.1") as judge:
        refused = {name for name, data in CASES.items() if judge(data).error is not None}
    assert refused == REFUSED
