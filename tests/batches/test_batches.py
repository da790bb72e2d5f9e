"""Batches that nobody should send, and what is read lazily, bounded and without harm."""

import pytest
from msgspec.structs import replace

from kwire.batches import (
    Batch,
    Compression,
    LegacyBatch,
    Limit,
    Record,
    RecordBatch,
    RecordHeader,
    build_batch,
    build_legacy_batch,
    read_batch,
    read_batches,
    with_base_offset,
)
from kwire.batches.compression import compress
from kwire.batches.current import HEADER, LAYOUT
from kwire.batches.varint import append_varint, read_varint, read_varlong
from kwire.errors import BatchError, EncodeError, TooLarge

RECORDS = [Record(value=b"%d" % n, key=b"k", timestamp=1000 + n) for n in range(100)]


def only(data: bytes) -> Batch:
    (batch,) = read_batches(data)
    return batch


@pytest.mark.parametrize("compression", Compression)
def test_what_was_built_is_read_again_with_consecutive_offsets(compression: Compression) -> None:
    batch = only(build_batch(RECORDS, base_offset=7, compression=compression))
    found = list(batch.records())
    assert [record.value for record in found] == [record.value for record in RECORDS]
    assert [record.offset for record in found] == list(range(7, 107))
    assert (batch.base_offset, batch.last_offset, batch.max_timestamp) == (7, 106, 1099)


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("compression", list(Compression)[1:4])
def test_old_formats_wrap_what_they_compress(magic: int, compression: Compression) -> None:
    batch = only(build_legacy_batch(RECORDS, magic, base_offset=7, compression=compression))
    assert isinstance(batch, LegacyBatch)
    assert (batch.base_offset, batch.last_offset) == (7, 106)
    assert [record.offset for record in batch.records()] == list(range(7, 107))


def test_the_quick_layout_of_the_header_is_the_declared_one() -> None:
    data = build_batch(RECORDS, base_offset=3, producer_id=9, producer_epoch=1, base_sequence=5)
    header = HEADER.parse(data)
    assert LAYOUT.size == HEADER.sizeof() == 61
    assert LAYOUT.unpack_from(data) == tuple(header[field.name] for field in HEADER.subcons)


def test_a_batch_cut_off_at_the_end_is_no_error_since_a_fetch_cuts_like_that() -> None:
    data = build_batch(RECORDS)
    for size in range(len(data)):
        assert list(read_batches(data + data[:size])) == [only(data)]


def test_a_flipped_bit_behind_the_crc_is_found_in_every_format() -> None:
    for data in (build_batch(RECORDS[:1]), *(build_legacy_batch(RECORDS[:1], m) for m in (0, 1))):
        broken = bytearray(data)
        broken[-1] ^= 1
        with pytest.raises(BatchError, match="the CRC is"):
            read_batch(broken)
        assert read_batch(broken, check_crc=False) is not None


def test_a_wrapped_message_has_a_crc_of_its_own() -> None:
    inner = bytearray(build_legacy_batch(RECORDS[:1], 1))
    inner[-1] ^= 1
    wrapper = only(build_legacy_batch([Record(value=bytes(inner))], 1))
    assert isinstance(wrapper, LegacyBatch)
    claimed = LegacyBatch(
        data=wrapper.data,
        magic=1,
        offset=0,
        crc=0,
        attributes=Compression.GZIP,
        timestamp=0,
    )
    with pytest.raises(BatchError, match="gzip"):
        list(claimed.records())


@pytest.mark.parametrize("magic", [0, 1])
def test_wrapped_messages_are_read_one_by_one(magic: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """0.8 MB have 1.8 million, of which each was kept, even to tell the first one's offset."""
    data = build_legacy_batch(RECORDS, magic, base_offset=7, compression=Compression.GZIP)
    batch = only(data)
    made: list[int] = []
    real = LegacyBatch.read

    def read(data: bytes) -> LegacyBatch:
        made.append(len(data))
        return real(data)

    monkeypatch.setattr(LegacyBatch, "read", read)
    assert (batch.base_offset, len(made)) == (7, 0)
    records = batch.records()
    assert (next(records).offset, len(made)) == (7, 1)
    assert ([record.offset for record in records][-1], len(made)) == (106, 100)


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("cut", [1, 2, 3, 4])
def test_a_size_that_is_cut_is_not_taken_for_null(magic: int, cut: int) -> None:
    message = build_legacy_batch([Record(key=b"a key", value=None)], magic)
    with pytest.raises(BatchError, match="a size is cut off"):
        list(LegacyBatch.read(message[:-cut]).records())


def test_of_wrapped_messages_those_before_a_broken_one_are_read() -> None:
    good = build_legacy_batch([Record(value=b"good")], 1)
    inner = good + good[:-1] + b"x"
    packed = compress(inner, Compression.GZIP, magic=1)
    wrapper = LegacyBatch.read(build_legacy_batch([Record(value=packed)], 1))
    records = replace(wrapper, attributes=Compression.GZIP).records()
    assert next(records).value == b"good"
    with pytest.raises(BatchError, match="the CRC is"):
        next(records)


@pytest.mark.parametrize("length", [-1, 0, 13])
def test_a_length_too_small_for_any_batch_is_refused(length: int) -> None:
    data = bytes(8) + length.to_bytes(4, "big", signed=True) + bytes(50)
    with pytest.raises(BatchError, match=f"length of {length}"):
        list(read_batches(data))


def test_a_format_that_does_not_exist_is_refused() -> None:
    data = bytearray(build_batch(RECORDS))
    data[16] = 3
    with pytest.raises(BatchError, match="format 3 is unknown"):
        list(read_batches(data))


@pytest.mark.parametrize(
    ("count", "reason"),
    [(99, "bytes behind the last record"), (101, "cut off"), (2**31 - 1, "cut off")],
)
def test_a_wrong_count_is_noticed_without_room_being_made_for_it(count: int, reason: str) -> None:
    data = bytearray(build_batch(RECORDS))
    data[57:61] = count.to_bytes(4, "big")
    batch = read_batch(data, check_crc=False)
    assert batch is not None
    with pytest.raises(BatchError, match=reason):
        list(batch.records())


def test_records_are_read_one_by_one() -> None:
    good = build_batch(RECORDS[:2])
    batch = read_batch(good[:-3] + b"\x7f" * 3, check_crc=False)
    assert batch is not None
    records = batch.records()
    assert next(records).value == b"0"
    with pytest.raises(BatchError):
        next(records)


BOMB = bytes(80_000_000)


@pytest.mark.parametrize(
    "compression", [Compression.GZIP, Compression.SNAPPY, Compression.LZ4, Compression.ZSTD]
)
def test_a_decompression_bomb_is_refused_and_said_to_be_one(compression: Compression) -> None:
    data = build_batch([Record(value=BOMB)], compression=compression)
    with pytest.raises(TooLarge, match=r"unpacks to more than \d+ bytes$"):
        list(only(data).records())
    with pytest.raises(TooLarge, match=r"sender, --unpack-limit 2 allows more$"):
        list(only(data).records(Limit.by_size(1, "--unpack-limit")))
    trusting = Limit(size=100_000_000, ratio=100_000)
    (record,) = only(data).records(trusting)
    assert record.value == BOMB


def test_small_batches_may_shrink_more_than_a_hundredfold() -> None:
    data = build_batch([Record(value=bytes(900_000))], compression=Compression.ZSTD)
    assert len(data) < 9_000
    (record,) = only(data).records()
    assert record.value == bytes(900_000)


@pytest.mark.parametrize("compression", [5, 6, 7])
def test_a_compression_that_does_not_exist_is_a_number_and_cannot_be_unpacked(
    compression: int,
) -> None:
    data = bytearray(build_batch(RECORDS))
    data[22] |= compression
    batch = read_batch(data, check_crc=False)
    assert batch is not None
    assert batch.compression == compression
    with pytest.raises(BatchError, match=f"compression {compression} is unknown"):
        list(batch.records())


def test_headers_may_repeat_have_no_value_and_not_be_utf8() -> None:
    headers = (RecordHeader("a", b"1"), RecordHeader("a", None), RecordHeader("", b""))
    odd = RecordHeader(b"\xff".decode("utf-8", "surrogateescape"), b"x")
    data = build_batch([Record(value=None, headers=(*headers, odd))])
    (record,) = only(data).records()
    assert record.headers == (*headers, odd)
    assert build_batch([record]) == data


def test_a_batch_moves_to_its_place_in_a_log_without_a_new_crc() -> None:
    moved = with_base_offset(build_batch(RECORDS), 1234, 5)
    batch = only(moved)
    assert (batch.base_offset, batch.partition_leader_epoch) == (1234, 5)
    assert [record.offset for record in batch.records()][:2] == [1234, 1235]


def test_gaps_of_compaction_and_the_last_offset_of_what_is_gone_survive() -> None:
    records = [Record(value=b"a", offset=10), Record(value=b"b", offset=14)]
    batch = only(build_batch(records, base_offset=9, last_offset=20))
    assert [record.offset for record in batch.records()] == [10, 14]
    assert (batch.base_offset, batch.last_offset) == (9, 20)


def test_sequences_begin_again_at_zero_after_the_largest() -> None:
    data = build_batch(RECORDS[:3], producer_id=1, producer_epoch=0, base_sequence=2**31 - 2)
    batch = only(data)
    assert [record.sequence for record in batch.records()] == [2**31 - 2, 2**31 - 1, 0]
    assert batch.last_sequence == 0


@pytest.mark.parametrize(
    "wrong", [{"producer_epoch": 1 << 15}, {"base_offset": 1 << 63}, {"base_sequence": 1 << 31}]
)
def test_a_number_that_does_not_fit_its_field_is_not_written(wrong: dict[str, int]) -> None:
    with pytest.raises(EncodeError, match="RecordBatch"):
        build_batch(RECORDS, **wrong)  # type: ignore[arg-type]  # the names are in the table above


def test_old_formats_refuse_what_they_have_no_room_for() -> None:
    headers = Record(value=b"", headers=(RecordHeader("a", b""),))
    with pytest.raises(EncodeError, match="no record headers"):
        build_legacy_batch([headers], 1)
    with pytest.raises(EncodeError, match="in ZSTD"):
        build_legacy_batch(RECORDS, 1, compression=Compression.ZSTD)


@pytest.mark.parametrize("value", [0, 1, -1, 63, 64, -64, -65, 2**31 - 1, -(2**31)])
def test_zigzag_varints_come_back(value: int) -> None:
    data = bytearray()
    append_varint(data, value)
    assert read_varint(bytes(data), 0) == (value, len(data))
    assert read_varlong(bytes(data), 0) == (value, len(data))


def test_a_varint_that_does_not_end_is_refused() -> None:
    with pytest.raises(BatchError, match="more than 5 bytes"):
        read_varint(b"\xff" * 6, 0)
    with pytest.raises(BatchError, match="more than 10 bytes"):
        read_varlong(b"\xff" * 11, 0)


def test_an_empty_batch_keeps_what_its_header_says() -> None:
    batch = only(build_batch([], base_offset=5, producer_id=8, base_sequence=3, last_offset=9))
    assert isinstance(batch, RecordBatch)
    assert list(batch.records()) == []
    assert (batch.last_offset, batch.producer_id, batch.last_sequence) == (9, 8, 7)
