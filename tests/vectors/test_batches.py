"""Record batches by Kafka's builders: every kind, decoded by Kafka's readers."""

import struct
from collections import Counter

import crc32c
import pytest

import vectors

pytestmark = pytest.mark.java

RELEASES = ["4.4.0", "4.3.1", "3.9.1"]
COMPRESSIONS = {"none", "gzip", "snappy", "lz4", "zstd"}


@pytest.mark.parametrize("release", RELEASES)
def test_every_magic_comes_with_every_compression_it_has(release: str) -> None:
    seen = {
        (batch.magic, batch.compression, batch.timestamp_type)
        for vector in vectors.batches(release)
        for batch in vector.decoded.batches
    }
    old = COMPRESSIONS - {"zstd"}
    assert seen == (
        {(0, c, "NoTimestampType") for c in old}
        | {(1, c, t) for c in old for t in ("CreateTime", "LogAppendTime")}
        | {(2, c, t) for c in COMPRESSIONS for t in ("CreateTime", "LogAppendTime")}
    )


@pytest.mark.parametrize("release", RELEASES)
def test_every_kind_has_its_instances_and_decodes_to_the_last_byte(release: str) -> None:
    names: Counter[str] = Counter()
    for vector in vectors.batches(release):
        names[vector.name] += 1
        assert vector.decoded.error is None
        assert vector.decoded.remaining == 0
        assert sum(batch.size for batch in vector.decoded.batches) == len(vector.data)
    metadata = names.pop("metadata")
    assert set(names.values()) == {vectors.BATCHES}
    assert len(names) == 4 + 8 + 30 + 3 + 7
    assert metadata == vectors.BATCHES * {"4.4.0": 27, "4.3.1": 26, "3.9.1": 25}[release]


def test_a_plain_batch_of_magic_2_is_laid_out_as_kip_98_says() -> None:
    for vector in vectors.batches("4.3.1"):
        if vector.name == "magic 2/none/CreateTime/plain":
            (batch,) = vector.decoded.batches
            offset, length, epoch, magic, crc, attributes, last = struct.unpack_from(
                ">qiibIhi", vector.data
            )
            assert (offset, length, epoch) == (
                batch.base_offset,
                batch.size - 12,
                batch.partition_leader_epoch,
            )
            assert (magic, attributes, last) == (2, 0, batch.last_offset - batch.base_offset)
            assert crc == batch.crc == crc32c.crc32c(vector.data[21:])


def test_control_batches_carry_each_message_of_kraft_and_of_transactions() -> None:
    found = {
        (record.control_type, record.message.name)
        for vector in vectors.batches("4.3.1")
        for batch in vector.decoded.batches
        for record in batch.records
        if batch.control and record.message
    }
    assert found == {
        ("ABORT", "EndTxnMarker"),
        ("COMMIT", "EndTxnMarker"),
        ("LEADER_CHANGE", "LeaderChangeMessage"),
        ("SNAPSHOT_HEADER", "SnapshotHeaderRecord"),
        ("SNAPSHOT_FOOTER", "SnapshotFooterRecord"),
        ("KRAFT_VERSION", "KRaftVersionRecord"),
        ("KRAFT_VOTERS", "VotersRecord"),
    }


def test_records_come_with_null_keys_and_values_and_headers() -> None:
    records = [r for v in vectors.batches("4.3.1") for b in v.decoded.batches for r in b.records]
    assert any(record.key is None and record.value is None for record in records)
    assert any(record.key is not None and record.value is None for record in records)
    headers = [header for record in records for header in record.headers]
    assert any(value is None for _, value in headers)
    assert any(key == "" for key, _ in headers)
    assert any(key.startswith("ключ") for key, _ in headers)


def test_metadata_records_stand_in_their_frame() -> None:
    frames = [v for v in vectors.messages("4.3.1") if v.frame]
    assert len({(v.name, v.version) for v in frames}) == 37
    for vector in frames:
        # Frame version 1, the record's key (below 128), its version, then the record.
        assert vector.frame[0] == 1
        assert vector.frame[2] == vector.version
        assert vector.frame[3:] == vector.data


def test_java_judges_batches_from_elsewhere() -> None:
    known = [v for v in vectors.batches("4.3.1") if v.name.startswith(("magic 2", "several"))]
    judged = list(vectors.judge_batches("4.3.1", (v.data for v in known)))
    assert judged == [v.decoded for v in known]


def test_java_finds_a_flipped_bit_and_a_cut_off_batch() -> None:
    first = next(v for v in vectors.batches("4.3.1") if v.name == "several batches")
    flipped = first.data[:-1] + bytes([first.data[-1] ^ 1])
    cut = first.data[:-1]
    by_crc, by_length = vectors.judge_batches("4.3.1", [flipped, cut])
    assert by_crc.error is not None
    assert by_crc.error.startswith("CorruptRecordException: Record is corrupt (stored crc")
    assert by_length.error is None
    assert len(by_length.batches) == len(by_crc.batches) == len(first.decoded.batches) - 1
    assert by_length.remaining == first.decoded.batches[-1].size - 1


def test_java_reads_the_metadata_records_of_a_batch() -> None:
    known = [v for v in vectors.batches("4.3.1") if v.name == "metadata"][:20]
    judged = vectors.judge_batches("4.3.1", (v.data for v in known), metadata=True)
    assert list(judged) == [v.decoded for v in known]
    assert all(r.message for v in known for b in v.decoded.batches for r in b.records)
