"""Repair keeps what can be read and says what was not kept."""

from pathlib import Path

import fastavro
import pytest

from kwire.capture import CaptureFile, RecordEncoder, repair_capture
from kwire.capture.file import hidden
from kwire.errors import FileError
from tests.kwire.capture.captured import read, record, write

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


def test_a_torn_file_is_cut_behind_its_last_whole_block(torn: Path) -> None:
    size = torn.stat().st_size
    done = repair_capture(torn)
    assert done.records == 20
    assert done.lost == size - torn.stat().st_size
    with torn.open("rb") as file:
        assert len(list(fastavro.reader(file))) == 20
    assert repair_capture(torn).damages == ()


def test_a_file_damaged_elsewhere_is_copied_and_not_cut(torn: Path) -> None:
    data = bytearray(torn.read_bytes())
    data[data.index(bytes(range(40)))] ^= 1
    torn.write_bytes(data)
    with pytest.raises(FileError, match="repair it into another file"):
        repair_capture(torn)
    assert torn.read_bytes() == data
    done = repair_capture(torn, torn.with_name("mended.avro"))
    assert (done.records, len(done.damages)) == (19, 2)
    assert read(torn.with_name("mended.avro")) == (RECORDS[1:20], [])


def test_a_recording_that_was_killed_gets_its_name(tmp_path: Path) -> None:
    path = tmp_path / "one.avro"
    file = CaptureFile(path)
    file.write(RecordEncoder().encode(record()))
    file.flush()
    killed = hidden(path)
    assert repair_capture(killed, tmp_path / "mended.avro").records == 1
    assert read(tmp_path / "mended.avro") == ([record()], [])
    file.discard()
