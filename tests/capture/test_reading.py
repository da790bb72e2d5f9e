"""Readers of damaged captures: everything readable is read."""

from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kwire.capture import (
    CaptureFile,
    CaptureRecord,
    Damage,
    RecordEncoder,
    capture_info,
    captures_at,
    read_capture,
    reading,
)
from kwire.capture.file import hidden
from kwire.capture.reading import read_blocks, read_range
from kwire.errors import FileError
from tests.support.capture.capture_records import KINDS, read, record, write

RECORDS = [record(event) for event in range(100)]
SAME_FILE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """Ten blocks of ten records."""
    path = tmp_path / "whole.avro"
    write(path, RECORDS)
    return path


def blocks(path: Path) -> list[int]:
    """Return the begin of each block, and the end of the last one."""
    info = capture_info(path)
    data = path.read_bytes()
    found, place = [info.start], info.start
    while (place := data.find(info.sync, place)) >= 0:
        place += len(info.sync)
        found.append(place)
    return found


def test_every_kind_of_record_comes_back(tmp_path: Path) -> None:
    write(tmp_path / "kinds.avro", list(KINDS), block=2)
    assert read(tmp_path / "kinds.avro") == (list(KINDS), [])


def test_a_capture_that_gets_its_name_while_it_is_opened_is_read(
    capture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = reading._opened

    def open_and_rename(path: Path) -> BinaryIO:
        file = opened(path)
        path.rename(path.with_name("renamed.avro"))
        return file

    monkeypatch.setattr(reading, "_opened", open_and_rename)
    assert read(capture) == (RECORDS, [])


@SAME_FILE
@given(cut=st.integers(0, 10**6))
def test_a_torn_tail_costs_the_last_block_only(capture: Path, cut: int) -> None:
    data, edges = capture.read_bytes(), blocks(capture)
    end = edges[0] + cut % (len(data) - edges[0])
    torn = capture.with_name("torn.avro")
    torn.write_bytes(data[:end])
    records, damages = read(torn)
    whole = max(number for number, edge in enumerate(edges) if edge <= end)
    assert records == RECORDS[: whole * 10]
    assert [(damage.offset, damage.size, damage.torn) for damage in damages] == (
        [] if end == edges[whole] else [(edges[whole], end - edges[whole], True)]
    )


def test_a_file_that_grows_while_it_is_read_is_torn_where_it_ended(capture: Path) -> None:
    edges, sync = blocks(capture), capture_info(capture).sync
    end = edges[8] - 1  # within a block, of which the rest and two more were written since
    with capture.open("rb") as file:
        *whole, tail = read_blocks(file, capture, sync, edges[0], end, end)
    assert [block.offset for block in whole] == edges[:7]
    assert isinstance(tail, Damage)
    assert (tail.offset, tail.size, tail.torn) == (edges[7], end - edges[7], True)


@SAME_FILE
@given(place=st.integers(0, 10**6), junk=st.binary(min_size=1, max_size=64))
def test_damage_in_the_middle_is_seen_and_costs_one_block_at_most(
    capture: Path, place: int, junk: bytes
) -> None:
    data, edges = capture.read_bytes(), blocks(capture)
    start = edges[2] + place % (edges[3] - edges[2] - len(junk))
    bad = capture.with_name("bad.avro")
    bad.write_bytes(data[:start] + junk + data[start + len(junk) :])
    records, damages = read(bad)
    if bad.read_bytes() == data:
        assert (records, damages) == (RECORDS, [])
        return
    assert damages
    lost = [entry for entry in RECORDS if entry not in records]
    assert {flow.event // 10 for flow in lost} <= {2, 3}
    assert all(entry in RECORDS for entry in records), "nothing is read that was not written"


def test_a_wrong_crc_costs_one_record(capture: Path) -> None:
    data = bytearray(capture.read_bytes())
    place = data.index(bytes(range(40)), blocks(capture)[4])
    data[place] ^= 1
    capture.write_bytes(data)
    records, (damage,) = read(capture)
    assert records == RECORDS[:40] + RECORDS[41:]
    assert damage.reason == "the CRC of a record is wrong"
    assert not damage.torn


def test_a_block_that_claims_to_be_huge_takes_no_memory(capture: Path) -> None:
    data, edges = bytearray(capture.read_bytes()), blocks(capture)
    data[edges[1] + 1 : edges[1] + 9] = b"\xfe" * 7 + b"\x01"
    capture.write_bytes(data)
    records, (damage,) = read(capture)
    assert records == RECORDS[:10] + RECORDS[20:]
    assert damage.offset == edges[1]


def with_header(path: Path, version: int) -> Path:
    """A capture of another version."""
    file = CaptureFile(path, version=version)
    file.write(RecordEncoder().encode(record()))
    file.close()
    return path


def test_a_newer_version_is_refused_by_name(tmp_path: Path) -> None:
    path = with_header(tmp_path / "new.avro", 3)
    with pytest.raises(FileError, match=r"new\.avro.*version 3, this kwire reads 1 to 2"):
        read(path)


WRONG = {
    "nothing": (b"", "no capture: it is empty"),
    "packets": (bytes.fromhex("d4c3b2a1"), "packets, no capture: `kwire capture import` makes"),
    "a log": (bytes(100), "does not begin as an Avro file does"),
    "half a header": (b"Obj\x01\x04\x16avro.sch", "is not whole"),
    "an endless header": (b"Obj\x01\x02\xfe\xff\xff\xff\xff\xff\xff\x7f", "is not whole"),
    "another Avro file": (b"Obj\x01\x00" + bytes(16), "has no kwire.capture.version"),
}


@pytest.mark.parametrize(("data", "reason"), WRONG.values(), ids=list(WRONG))
def test_what_is_no_capture_is_refused(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "wrong.avro"
    path.write_bytes(data)
    with pytest.raises(FileError, match=reason):
        read(path)


def test_a_folder_stands_for_the_whole_captures_in_it(tmp_path: Path) -> None:
    for name in ("b.avro", "a.avro", "notes.txt"):
        (tmp_path / name).touch()
    hidden(tmp_path / "c.avro").touch()
    assert captures_at([tmp_path]) == [tmp_path / "a.avro", tmp_path / "b.avro"]


def test_a_broken_sync_marker_costs_the_blocks_on_both_sides(capture: Path) -> None:
    data, edges = bytearray(capture.read_bytes()), blocks(capture)
    data[edges[3] - 1] ^= 1
    capture.write_bytes(data)
    records, (damage,) = read(capture)
    assert records == RECORDS[:20] + RECORDS[40:]
    assert (damage.offset, damage.size) == (edges[2], edges[4] - edges[2])


@pytest.mark.parametrize("size", [50, 777, 5000, 10**6])
def test_ranges_that_follow_each_other_give_everything_once(tmp_path: Path, size: int) -> None:
    path = tmp_path / "c.avro"
    write(path, [record(number) for number in range(100)], block=7)
    data = bytearray(path.read_bytes())
    data[3000:3010] = bytes(10)
    path.write_bytes(data[:-20])
    whole = list(read_capture(path))
    assert {type(one) for one in whole} == {CaptureRecord, Damage}
    with path.open("rb") as file:
        starts = range(0, path.stat().st_size, size)
        parts = [one for start in starts for one in read_range(file, path, start, start + size)]
    assert parts == whole
