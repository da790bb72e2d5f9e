"""Repair keeps what can be read and says what was not kept."""

from pathlib import Path

import fastavro
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kwire.capture import (
    CaptureFile,
    CaptureRecord,
    RecordEncoder,
    capture_info,
    repair_capture,
)
from kwire.capture.file import hidden
from kwire.capture.message import message_head
from kwire.errors import FileError
from tests.support.capture.capture_records import KINDS, read, record, write

RECORDS = [record(event) for event in range(30)]


@pytest.fixture
def torn(tmp_path: Path) -> Path:
    """Three blocks, the last one without its end, which fastavro refuses."""
    path = tmp_path / "torn.avro"
    write(path, RECORDS)
    path.write_bytes(path.read_bytes()[:-5])
    with path.open("rb") as file, pytest.raises(ValueError, match="sync marker"):
        list(fastavro.reader(file))
    return path


def test_a_torn_file_keeps_each_whole_record_of_its_unfinished_block(torn: Path) -> None:
    done = repair_capture(torn)
    assert (done.records, done.lost) == (30, 0)
    with torn.open("rb") as file:
        assert len(list(fastavro.reader(file))) == 30
    assert read(torn) == (RECORDS, [])
    assert [path.name for path in torn.parent.iterdir()] == ["torn.avro"]
    assert repair_capture(torn).damages == ()


def test_a_record_that_is_cut_is_lost_and_told(torn: Path) -> None:
    torn.write_bytes(torn.read_bytes()[:-30])
    done = repair_capture(torn)
    (damage,) = done.damages
    assert (done.records, damage.torn) == (29, True)
    assert read(torn) == (RECORDS[:29], [])


def test_a_file_damaged_elsewhere_is_copied_and_not_mended_in_place(torn: Path) -> None:
    data = bytearray(torn.read_bytes())
    data[data.index(bytes(range(40)))] ^= 1
    torn.write_bytes(data)
    with pytest.raises(FileError, match="repair it into another file"):
        repair_capture(torn)
    assert torn.read_bytes() == data
    done = repair_capture(torn, torn.with_name("mended.avro"))
    assert (done.records, len(done.damages)) == (29, 1)
    assert read(torn.with_name("mended.avro")) == (RECORDS[1:], [])


def test_without_a_whole_record_nothing_is_written_and_nothing_claimed(tmp_path: Path) -> None:
    path = tmp_path / "one.avro"
    write(path, [record()])
    cut = path.read_bytes()[:-40]
    path.write_bytes(cut)
    for target in (None, tmp_path / "mended.avro"):
        with pytest.raises(FileError, match="no record of it is whole: nothing was written"):
            repair_capture(path, target)
        assert [entry.name for entry in tmp_path.iterdir()] == ["one.avro"]
        assert path.read_bytes() == cut


def spans(path: Path, records: list[CaptureRecord]) -> list[tuple[int, int]]:
    """Return the position of each record in a file."""
    data, encoder, found, place = path.read_bytes(), RecordEncoder(), [], 0
    for entry in records:
        encoded = encoder.encode(entry)
        place = data.index(encoded, place)
        found.append((place, place + len(encoded)))
        place += len(encoded)
    return found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_record_that_no_damage_touches_is_kept(tmp_path: Path, data: st.DataObject) -> None:
    """Bytes changed anywhere behind the header, and a cut: heads, lengths, markers and records."""
    path, mended = tmp_path / "bad.avro", tmp_path / "mended.avro"
    for entry in tmp_path.iterdir():
        entry.unlink()
    records = [*KINDS, *RECORDS]
    write(path, records, block=data.draw(st.sampled_from([1, 7, 100])))
    places, start = spans(path, records), capture_info(path).start
    content = bytearray(path.read_bytes())
    end = data.draw(st.integers(start, len(content)))
    changed = []
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(start, len(content) - 1))
        junk = data.draw(st.binary(min_size=1, max_size=40))
        changed.append((at, at + len(junk)))
        content[at : at + len(junk)] = junk
    path.write_bytes(content[:end])
    whole = [
        one
        for one, (first, last) in zip(records, places, strict=True)
        if last <= end and not any(first < until and since < last for since, until in changed)
    ]
    try:
        repair_capture(path, mended)
        kept = read(mended)[0]
    except FileError:
        kept = []
    assert [one for one in kept if one in whole] == whole
    assert all(one in records for one in kept), "nothing is kept that was not written"


def test_records_in_a_lost_record_s_frame_are_not_taken_for_the_file_s(tmp_path: Path) -> None:
    """A topic's messages that are captures themselves (`--record-topic`) pass a proxy, too."""
    path, mended = tmp_path / "bad.avro", tmp_path / "mended.avro"
    inner = message_head() + RecordEncoder().encode(record(77))
    write(path, [record(1), record(2, frame=b"." * 20 + inner, size=9000), record(3)])
    content = bytearray(path.read_bytes())
    content[content.index(b"." * 20)] ^= 1
    path.write_bytes(content[:-30])
    assert repair_capture(path, mended).records == 1
    assert read(mended) == ([record(1)], [])


def test_a_record_longer_than_a_window_is_found(tmp_path: Path) -> None:
    path, mended = tmp_path / "bad.avro", tmp_path / "mended.avro"
    long = record(2, frame=bytes(3_000_000), size=3_000_000)
    write(path, [record(1), long, record(3)])
    content = bytearray(path.read_bytes())
    content[capture_info(path).start] ^= 0xFF  # the count of the block's records
    path.write_bytes(content)
    assert repair_capture(path, mended).records == 3
    assert read(mended) == ([record(1), long, record(3)], [])


def test_a_recording_that_was_killed_gets_its_name(tmp_path: Path) -> None:
    path = tmp_path / "one.avro"
    file = CaptureFile(path)
    file.write(RecordEncoder().encode(record()))
    file.flush()
    killed = hidden(path)
    assert repair_capture(killed, tmp_path / "mended.avro").records == 1
    assert read(tmp_path / "mended.avro") == ([record()], [])
    file.discard()
