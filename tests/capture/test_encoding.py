"""Records are what fastavro, which wrote none of them, takes them for."""

from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import msgspec
import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from kwire.capture import SCHEMA, CaptureRecord, RecordEncoder
from kwire.capture.avro import BadAvro, long_bytes, read_long, reader
from kwire.capture.encoding import BadRecord, RecordDecoder
from kwire.capture.message import message_head
from kwire.capture.schema import schema
from tests.support.capture.capture_records import KINDS, write


@pytest.mark.parametrize("record", KINDS)
def test_fastavro_would_write_the_same_bytes(record: CaptureRecord) -> None:
    data = RecordEncoder().encode(record)
    fields = msgspec.structs.asdict(record) | {"crc": data[-4:]}
    fields["at"] = fields.pop("at_us")
    stream = BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(SCHEMA), fields)
    assert stream.getvalue() == data


@pytest.mark.parametrize("record", KINDS)
def test_a_record_comes_back(record: CaptureRecord) -> None:
    data = RecordEncoder().encode(record)
    assert RecordDecoder(2).decode(b"xx" + data + b"yy", 2) == (record, len(data) + 2)


def test_a_record_of_version_1_had_no_deeds() -> None:
    fields = msgspec.structs.asdict(KINDS[0]) | {"crc": bytes(4)}
    fields["at"] = fields.pop("at_us")
    stream = BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema(1)), fields)
    data = stream.getvalue()[:-4]
    data += crc32c(data).to_bytes(4, "big")
    assert RecordDecoder(1).decode(data, 0) == (KINDS[0], len(data))


def test_fastavro_reads_a_file_with_times_as_times(tmp_path: Path) -> None:
    path = tmp_path / "one.avro"
    write(path, list(KINDS), block=2)
    with path.open("rb") as file:
        reader = fastavro.reader(file)
        rows: list[Any] = list(reader)
    assert reader.metadata["kwire.capture.version"] == "2"
    assert [row["event"] for row in rows] == [record.event for record in KINDS]
    assert rows[0]["at"].isoformat() == "2026-11-21T07:27:53.056000+00:00"


@given(st.integers(-(2**63), 2**63 - 1))
def test_numbers_are_avros(value: int) -> None:
    stream = BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema("long"), value)
    assert long_bytes(value) == stream.getvalue()
    assert read_long(long_bytes(value), 0) == (value, len(long_bytes(value)))


def test_a_number_that_does_not_end_is_refused() -> None:
    with pytest.raises(IndexError):
        read_long(b"\x80\x80", 0)
    with pytest.raises(BadAvro):
        read_long(b"\x80" * 30, 0)


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_flipped_byte_is_never_taken_for_a_record(place: int, flip: int) -> None:
    data = bytearray(RecordEncoder().encode(KINDS[0]))
    data[place % len(data)] ^= flip
    with pytest.raises(BadRecord):
        RecordDecoder(2).decode(bytes(data), 0)


@pytest.mark.parametrize("version", [1, 2])
def test_a_message_names_the_schema_as_fastavro_does(version: int) -> None:
    canonical = fastavro.schema.to_parsing_canonical_form(schema(version))
    known = bytes.fromhex(fastavro.schema.fingerprint(canonical, "CRC-64-AVRO"))
    assert message_head(version) == b"\xc3\x01" + known
    assert message_head(version) is message_head(version)  # salvage asks at each damage


@pytest.mark.parametrize(
    ("kind", "data", "value"),
    [
        ({"type": "array", "items": "string"}, "030802610262 00", ["a", "b"]),  # with its size
        ({"type": "array", "items": "long"}, "02020204 00", [1, 2]),  # two blocks
        ({"type": "map", "values": "bytes"}, "02024102ff 00", {"A": b"\xff"}),
    ],
)
def test_blocks_of_arrays_and_maps_are_those_of_other_writers(
    kind: dict[str, Any], data: str, value: object
) -> None:
    encoded = bytes.fromhex(data)
    stream = BytesIO(encoded)
    assert fastavro.schemaless_reader(stream, fastavro.parse_schema(kind), None) == value
    assert reader(kind)(encoded, 0) == (value, len(encoded))


@pytest.mark.parametrize(
    ("kind", "data"),
    [("string", "02ff"), ("bytes", "01"), (["null", "long"], "04"), ("long", "ff" * 9 + "7f")],
)
def test_values_that_the_schema_does_not_have_are_refused(kind: object, data: str) -> None:
    with pytest.raises(BadAvro):
        reader(kind)(bytes.fromhex(data), 0)
