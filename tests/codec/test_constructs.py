"""The construct nodes: what Kafka's generated readers accept, and what they refuse."""

from pathlib import Path
from uuid import UUID

import pytest
from construct import Int8sb, Int16sb, Int32sb

from kwire.codec.constructs import (
    Blob,
    KafkaArray,
    MalformedError,
    NullableStruct,
    Tag,
    Tags,
    Text,
    compact,
    least_size,
    remaining,
    uuid,
    uvarint,
)
from kwire.codec.declaration import Group
from kwire.codec.engine import TAG_LIMIT
from kwire.codec.notation import int32, string


class Empty(Group):
    """A struct without fields: NoOpRecord is one."""


class Pair(Group):
    name: str = string
    number: int = int32


@pytest.mark.parametrize(
    ("encoded", "value"),
    [
        ("00", 0),
        ("7f", 127),
        ("8001", 128),
        ("ac02", 300),  # the example of the protocol buffers encoding guide
        ("8080808008", -(2**31)),  # Java keeps 32 bits
        ("ffffffff7f", -1),
    ],
)
def test_a_varint_is_read_into_32_bits(encoded: str, value: int) -> None:
    assert uvarint.parse(bytes.fromhex(encoded)) == value


@pytest.mark.parametrize(
    ("value", "encoded"), [(0, "00"), (127, "7f"), (128, "8001"), (300, "ac02")]
)
def test_a_varint_is_written_in_its_shortest_form(value: int, encoded: str) -> None:
    assert uvarint.build(value).hex() == encoded


def test_a_varint_of_six_bytes_is_refused() -> None:
    with pytest.raises(MalformedError, match="more than 5 bytes"):
        uvarint.parse(bytes.fromhex("808080808001"))


def test_a_varint_that_is_cut_short_claims_nothing() -> None:
    with pytest.raises(MalformedError, match="the bytes end inside a varint"):
        uvarint.parse(b"\x80")


def test_a_compact_length_is_one_more_and_zero_is_null() -> None:
    assert Text(compact).parse(b"\x03hi") == "hi"
    assert Text(compact, nullable=True).parse(b"\x00") is None
    assert Text(compact, nullable=True).build(None) == b"\x00"


def test_any_negative_length_is_null_where_null_is_allowed() -> None:
    assert Text(Int16sb, nullable=True).parse(b"\xff\xfe") is None
    with pytest.raises(MalformedError, match="null is not allowed"):
        Text(Int16sb).parse(b"\xff\xff")


def test_bytes_that_are_not_utf8_survive() -> None:
    encoded = b"\x00\x03\xff\xc3\x28"
    text = Text(Int16sb)
    assert text.build(text.parse(encoded)) == encoded


def test_a_string_is_limited_in_both_directions() -> None:
    with pytest.raises(MalformedError, match="32768 bytes"):
        Text(compact).parse(uvarint.build(32769) + bytes(32768))
    with pytest.raises(MalformedError, match="32768 bytes"):
        Text(compact).build("x" * 32768)


def test_a_claimed_length_is_checked_before_it_is_believed() -> None:
    with pytest.raises(MalformedError, match="2147483647 bytes claimed, 1 left"):
        Blob(Int32sb).parse(b"\x7f\xff\xff\xffx")
    with pytest.raises(MalformedError, match="2147483647 elements claimed, 8 bytes left"):
        KafkaArray(Int32sb, Int32sb, tuple).parse(b"\x7f\xff\xff\xff" + bytes(8))


def test_scalars_come_as_a_tuple_and_structs_as_a_list() -> None:
    assert KafkaArray(compact, Int32sb, tuple).parse(b"\x03\0\0\0\1\0\0\0\2") == (1, 2)
    pairs = KafkaArray(compact, Pair.struct_at(0, True), list)
    assert pairs.parse(b"\x02\x02a\0\0\0\7\0") == [Pair(name="a", number=7)]


def test_the_marker_of_a_nullable_struct_is_minus_one_or_in_a_tag_zero() -> None:
    plain = NullableStruct(Pair.struct_at(0, False), Int8sb, -1)
    in_tag = NullableStruct(Pair.struct_at(0, False), uvarint, 0)
    assert plain.build(None) == b"\xff"
    assert in_tag.build(None) == b"\x00"
    assert plain.parse(b"\x01\0\1a\0\0\0\7") == Pair(name="a", number=7)
    assert in_tag.parse(b"\x01\0\1a\0\0\0\7") == Pair(name="a", number=7)


def test_unknown_tags_are_kept_and_written_in_order() -> None:
    empty = Empty.struct_at(0, True)
    encoded = bytes.fromhex("02 05 01 aa 63 02 bbcc")
    read = empty.parse(encoded)
    assert read.unknown_tags == {5: b"\xaa", 99: b"\xbb\xcc"}
    assert empty.build(Empty(unknown_tags={99: b"\xbb\xcc", 5: b"\xaa"})) == encoded


def test_a_flood_of_tags_is_refused_by_its_count() -> None:
    flood = uvarint.build(TAG_LIMIT + 1) + bytes(2 * (TAG_LIMIT + 1))
    with pytest.raises(MalformedError, match=f"{TAG_LIMIT} allowed"):
        Empty.struct_at(0, True).parse(flood)


def test_a_tag_section_says_which_tags_it_knows_in_order() -> None:
    assert list(Tags({3: _tag("c"), 1: _tag("a")}).known) == [1, 3]


def test_the_least_size_counts_what_cannot_be_left_out() -> None:
    assert least_size(Pair.struct_at(0, True)) == 1 + 4 + 1
    assert least_size(Pair.struct_at(0, False)) == 2 + 4
    assert least_size(uuid) == 16


def test_what_remains_is_known_of_a_file_too(tmp_path: Path) -> None:
    path = tmp_path / "bytes"
    path.write_bytes(b"abcd")
    with path.open("rb") as file:
        file.read(1)
        assert (remaining(file), file.read()) == (3, b"bcd")


def test_a_uuid_is_sixteen_bytes() -> None:
    assert uuid.build(UUID(int=1)) == bytes(15) + b"\x01"


def _tag(name: str) -> Tag:
    return Tag(name, Int32sb, 0)
