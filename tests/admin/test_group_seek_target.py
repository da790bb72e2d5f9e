"""The places that `groups seek --to` takes; durations and files as Kafka's tool writes them."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from kwire.admin.group_seek_target import (
    AsGroup,
    AsListed,
    AtOffset,
    AtTime,
    SeekTarget,
    ShiftedBy,
    parse_seek_target,
)
from kwire.admin.topic_partition import TopicPartition
from kwire.errors import InvalidValue

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
NOON_MS = 1795348800000


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("earliest", AtTime(-2)),
        ("latest", AtTime(-1)),
        ("1200", AtOffset(1200)),
        ("+50", ShiftedBy(50)),
        ("-50", ShiftedBy(-50)),
        ("@1795348800000", AtTime(NOON_MS)),
        ("@2026-11-22T12:00:00Z", AtTime(NOON_MS)),
        ("@2026-11-22T12:00:00.000", AtTime(NOON_MS)),
        ("@2026-11-22T13:00:00+01:00", AtTime(NOON_MS)),
        ("-90m", AtTime(NOON_MS - 5_400_000)),
        ("-PT1H30M", AtTime(NOON_MS - 5_400_000)),
        ("-P1D", AtTime(NOON_MS - 86_400_000)),
        ("-99999999d", AtTime(0)),
        ("billing", AsGroup("billing")),
        ("group:latest", AsGroup("latest")),
    ],
)
def test_a_place_is_read(text: str, target: SeekTarget) -> None:
    assert parse_seek_target(text, "g", NOON) == target


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("@yesterday", "@yesterday is no time"),
        ("-soon", "-soon is no duration"),
        ("-P", "-P is no duration"),
        ("-999999999999d", "is no duration"),
        ("9223372036854775808", "is no offset"),
        ("1" + "0" * 30, "is no offset"),
        ("+1" + "0" * 30, "is no offset"),
        ("", "the target is empty"),
        ("earlyest", "'earlyest' is no place: write earliest; for a group, group:earlyest"),
        ("Latest", "write latest"),
        ("no-such.csv", "no-such.csv cannot be read"),
    ],
)
def test_a_place_that_makes_no_sense_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidValue, match=reason):
        parse_seek_target(text, "g", NOON)


def test_a_file_of_kafkas_tool_names_an_offset_for_each_partition(tmp_path: Path) -> None:
    file = tmp_path / "offsets.csv"
    file.write_text('"orders",0,10\n"g","orders",1,20\n"other","orders",2,30\n')
    expected = ((TopicPartition("orders", 0), 10), (TopicPartition("orders", 1), 20))
    assert parse_seek_target(str(file), "g") == AsListed(expected)


@pytest.mark.parametrize("line", ["orders,0", "orders,x,1", "orders,0,-1", "a,b,c,d,e"])
def test_a_line_that_names_no_offset_is_refused_by_its_number(tmp_path: Path, line: str) -> None:
    file = tmp_path / "offsets.csv"
    file.write_text(f"orders,0,1\n{line}\n")
    with pytest.raises(InvalidValue, match=r"offsets\.csv:2 is no offset"):
        parse_seek_target(str(file), "g")


def test_a_byte_order_mark_belongs_to_no_name(tmp_path: Path) -> None:
    file = tmp_path / "offsets.csv"
    file.write_bytes(b"\xef\xbb\xbfg,orders,0,10\r\ng,orders,1,20\r\n")
    expected = ((TopicPartition("orders", 0), 10), (TopicPartition("orders", 1), 20))
    assert parse_seek_target(str(file), "g") == AsListed(expected)


def test_two_offsets_for_one_partition_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "offsets.csv"
    file.write_text("orders,0,1\norders,0,1\norders,0,2\n")
    with pytest.raises(InvalidValue, match=r"offsets\.csv:3 names another offset for orders-0"):
        parse_seek_target(str(file), "g")


@pytest.mark.parametrize("line", [f"orders,0,{'9' * 5000}", "orders,2147483648,1"])
def test_a_number_that_is_too_large_is_refused_by_its_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "offsets.csv"
    file.write_text(f"{line}\n")
    with pytest.raises(InvalidValue, match=r"offsets\.csv:1 is no offset"):
        parse_seek_target(str(file), "g")
