"""Metadata records of a kind that was read before are read as the first one was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.batches import metadata_records
from kwire.batches.metadata_records import OpaqueRecord, VersionedRecord, read_metadata_record
from kwire.codec import engine_choice
from kwire.errors import DecodeError
from kwire.messages.index import METADATA_RECORDS
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.registry import metadata_record

EXAMPLES = [
    VersionedRecord(record=declared(), version=version).encode()
    for declared in map(metadata_record, METADATA_RECORDS)
    for version in declared.versions
]
"""One of each type and version, with its defaults."""


@pytest.fixture(autouse=True)
def read_before() -> None:
    for value in EXAMPLES:
        read_metadata_record(value)


def outcome(read: Any, value: bytes) -> Any:
    try:
        return read(value)
    except DecodeError as error:
        return str(error), error.offset


def agree(value: bytes) -> None:
    assert outcome(read_metadata_record, value) == outcome(metadata_records._read_any, value)


@pytest.mark.parametrize("value", EXAMPLES, ids=lambda value: value[1:3].hex())
def test_all_types_are_read_alike_also_cut_off_or_with_more_behind(value: bytes) -> None:
    for size in range(len(value)):
        agree(value[:size])
    agree(value + b"\0")
    agree(value)


@given(st.sampled_from(EXAMPLES), st.integers(0), st.integers(0, 255))
@settings(max_examples=300)
def test_a_byte_that_is_another_is_read_alike(value: bytes, place: int, byte: int) -> None:
    spoilt = bytearray(value)
    spoilt[place % len(value)] = byte
    agree(bytes(spoilt))


@pytest.mark.parametrize("frame", [b"", b"\1", b"\1\5", b"\2\5\0", b"\1\x85\0\0", b"\1\5\x80\0"])
def test_frames_of_another_form_are_read_alike(frame: bytes) -> None:
    agree(frame)
    agree(frame + PartitionChangeRecord().encode(0))


def test_unknown_types_and_versions_are_kept() -> None:
    for value in (b"\1\x63\0ab", b"\1\5\x7fab"):
        agree(value)
        record = read_metadata_record(value).record
        assert record == OpaqueRecord(type=value[1], body=b"ab")


def test_another_engine_that_is_chosen_reads_them_too() -> None:
    value = VersionedRecord(record=PartitionChangeRecord(leader=3), version=0).encode()
    before = read_metadata_record(value)
    engine_choice.use("reference")
    try:
        assert metadata_records._decoders == {}
        assert read_metadata_record(value) == before
    finally:
        engine_choice.use(None)
