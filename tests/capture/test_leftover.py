"""A recording that a killed process left is repaired and named, and its name is free again."""

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from kwire.capture import CannotRecord, CaptureFile, RecordEncoder, leftovers, recover, set_aside
from kwire.capture.file import hidden
from kwire.operating_system import is_held
from tests.support.capture.capture_records import read, record

RECORDS = [record(event) for event in range(30)]


def record_and_die(path: Path, flushed: int) -> None:
    """Write records, and end as with kill -9: those behind the flushed ones are lost."""
    encoder, file = RecordEncoder(), CaptureFile(path)
    file.write(*map(encoder.encode, RECORDS[:flushed]))
    file.flush()
    file.write(*map(encoder.encode, RECORDS[flushed:]))
    os.kill(os.getpid(), signal.SIGKILL)


def killed(path: Path, flushed: int) -> Path:
    """Return the hidden file that a recording leaves when its process is killed."""
    process = multiprocessing.get_context("fork").Process(
        target=record_and_die, args=(path, flushed)
    )
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert not is_held(hidden(path))
    return hidden(path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "one.avro"


@pytest.mark.parametrize("tail", [b"", bytes(100), b"\2\x04\x2c"], ids=["", "zeros", "cut"])
def test_all_that_was_written_is_found_beside_the_next_recording(path: Path, tail: bytes) -> None:
    part = killed(path, 20)
    part.write_bytes(part.read_bytes() + tail)
    part.chmod(0o640)
    with pytest.raises(CannotRecord, match=r"kwire capture repair .*\.one\.avro\.part --out"):
        CaptureFile(path)
    set_aside(path)
    CaptureFile(path).close()
    (name,) = leftovers(path)
    assert name.name == "one-recovered-1.avro"
    (text,) = recover([name])
    lost = f"; {len(tail)} bytes of it are no whole record" if tail else ""
    assert text == f"20 records that a killed process left are in {name}{lost}"
    assert read(name) == (RECORDS[:20], [])
    assert name.stat().st_mode & 0o777 == 0o640
    assert [file.name for file in path.parent.iterdir()] == [name.name]


def test_each_time_has_its_own_name_and_those_of_a_folder_have_theirs_already(
    path: Path,
) -> None:
    for _ in range(2):
        killed(path, 5)
        set_aside(path)
    names = leftovers(path)
    assert [name.name for name in names] == ["one-recovered-1.avro", "one-recovered-2.avro"]
    assert len(list(recover(names))) == 2
    folder = path.parent
    in_folder = folder / "capture-20261127T080000Z-00000.avro"
    killed(in_folder, 5)
    assert leftovers(folder) == [in_folder]
    assert len(list(recover([in_folder]))) == 1
    assert read(in_folder) == (RECORDS[:5], [])


def test_one_that_is_being_written_is_left_alone(path: Path) -> None:
    file = CaptureFile(path)
    with pytest.raises(CannotRecord, match="is being written by another process"):
        set_aside(path)
    in_folder = CaptureFile(path.with_name("capture-1-00000.avro"))
    assert leftovers(path.parent) == []
    in_folder.close()
    file.write(RecordEncoder().encode(RECORDS[0]))
    file.close()
    assert read(path) == (RECORDS[:1], [])
    set_aside(path)  # nothing is left of it


@pytest.mark.parametrize("shows_secrets", [False, True])
@pytest.mark.parametrize("page", [b"", bytes(4096)], ids=["", "page"])
def test_one_that_was_killed_before_its_first_record_is_removed(
    path: Path, page: bytes, *, shows_secrets: bool
) -> None:
    """Up to every byte of the header; a page that is written whole has zeros behind them."""
    whole = path.with_name("whole.avro")
    file = CaptureFile(whole, shows_secrets=shows_secrets)
    header = hidden(whole).read_bytes()
    file.close()
    for size in (*range(0, len(header), 50), *range(len(header) - 20, len(header) + 1)):
        hidden(path).write_bytes((header[:size] + page)[: max(size, len(page))])
        assert list(recover([path])) == []
        assert list(path.parent.iterdir()) == []


def test_what_is_not_known_to_be_empty_stays(path: Path) -> None:
    """Foreign content, zeros before more, and a capture of a later version."""
    file = CaptureFile(path, version=99)
    part = hidden(path)
    for content in (part.read_bytes(), b"Obj\1\2\2a", bytes(1024 * 1024) + b"x"):
        part.write_bytes(content)
        (text,) = recover([path])
        assert text.startswith(f"the recording that a killed process left stays in {part}: ")
    file.discard()


def test_what_is_damaged_before_its_end_stays_and_is_told(path: Path) -> None:
    part = killed(path, 20)
    data = bytearray(part.read_bytes())
    data[data.index(bytes(range(40)))] ^= 1
    part.write_bytes(data)
    (text,) = recover([path])
    assert text.startswith(f"the recording that a killed process left stays in {part}: ")
    assert "repair it into another file" in text
    assert part.read_bytes() == data


def test_a_repair_that_was_killed_is_begun_again(path: Path) -> None:
    part = killed(path, 20)
    part.write_bytes(part.read_bytes() + b"torn")
    mended = part.with_name(f".{part.name.lstrip('.')}.mended")
    mended.write_bytes(b"half of it")
    hidden(mended).write_bytes(b"half of it")
    assert len(list(recover([path]))) == 1
    assert read(path) == (RECORDS[:20], [])
