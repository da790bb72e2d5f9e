"""A file appears when it is whole; the next one begins by size or by age."""

import errno
import os
from pathlib import Path

import pytest

from kwire.capture import CannotRecord, CaptureFile, CaptureFiles, RecordEncoder
from kwire.capture.appending import PAGE, PAGES
from kwire.capture.file import BLOCK_SIZE, hidden
from tests.support.capture.capture_records import read, record

ENCODED = RecordEncoder().encode(record())


def test_a_file_is_hidden_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "one.avro"
    file = CaptureFile(path)
    file.write(ENCODED)
    assert [entry.name for entry in tmp_path.iterdir()] == [".one.avro.part"]
    file.close()
    assert [entry.name for entry in tmp_path.iterdir()] == ["one.avro"]
    assert read(path) == ([record()], [])


def test_a_block_is_written_when_it_is_full(tmp_path: Path) -> None:
    file = CaptureFile(tmp_path / "one.avro")
    start = file.size
    long = RecordEncoder().encode(record(frame=bytes(BLOCK_SIZE // 2)))
    file.write(long)
    assert (file.size, file.waiting) == (start, len(long))
    file.write(long)
    assert file.waiting == 0
    assert 0 < file.size - start - 2 * len(long) < 32
    file.close()


def test_a_file_without_records_leaves_nothing(tmp_path: Path) -> None:
    CaptureFile(tmp_path / "one.avro").close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("there", "reason"),
    [("one.avro", "exists already"), (".one.avro.part", "is being written, or was left")],
)
def test_nothing_is_written_over(tmp_path: Path, there: str, reason: str) -> None:
    (tmp_path / there).write_bytes(b"dear")
    with pytest.raises(CannotRecord, match=rf"{there} {reason}"):
        CaptureFile(tmp_path / "one.avro")
    assert (tmp_path / there).read_bytes() == b"dear"


def test_a_flushed_file_is_whole_whatever_its_size(tmp_path: Path) -> None:
    path = tmp_path / "one.avro"
    file = CaptureFile(path)
    sizes = (1, PAGE - 100, 0, PAGE, PAGES - 1, 3, 2 * PAGES + 5)
    records = [record(event=number, frame=bytes(size)) for number, size in enumerate(sizes)]
    encoder = RecordEncoder()
    for number, one in enumerate(records):
        file.write(encoder.encode_open(one))
        file.flush()
        assert hidden(path).stat().st_size == file.size
        assert read(hidden(path)) == (records[: number + 1], [])
    file.close()
    assert read(path) == (records, [])


def test_where_nothing_goes_past_the_cache_the_file_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def refusing(path: Path, flags: int, mode: int = 0o777) -> int:
        """A file system without O_DIRECT, which makes the file nevertheless."""
        descriptor = real(path, flags & ~os.O_DIRECT, mode)
        if flags & os.O_DIRECT:
            os.close(descriptor)
            raise OSError(errno.EINVAL, "Invalid argument")
        return descriptor

    monkeypatch.setattr(os, "open", refusing)
    path = tmp_path / "one.avro"
    file = CaptureFile(path)
    file.write(ENCODED)
    file.close()
    assert read(path) == ([record()], [])


def test_after_an_error_the_whole_blocks_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "one.avro"
    file = CaptureFile(path)
    file.write(ENCODED)
    file.flush()

    def full(descriptor: int, data: memoryview, offset: int) -> int:
        """A disk with no more room."""
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    file.write(ENCODED)
    with pytest.raises(OSError, match="No space left"):
        file.flush()
    file.close()
    assert read(path) == ([record()], [])


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_the_next_file_begins_by_size(tmp_path: Path) -> None:
    files = CaptureFiles.numbered(tmp_path, "S", now=0.0, size=1)
    for _ in range(3):
        files.write(0.0, ENCODED)
    files.close()
    assert names(tmp_path) == [f"capture-S-0000{number}.avro" for number in range(3)]
    assert [len(read(path)[0]) for path in files.paths] == [1, 1, 1]


def test_the_next_file_begins_by_age(tmp_path: Path) -> None:
    files = CaptureFiles.numbered(tmp_path, "S", now=100.0, seconds=60.0)
    files.write(101.0, ENCODED)
    files.tick(159.0, flush_after=1000.0)
    assert names(tmp_path) == [".capture-S-00000.avro.part"]
    files.tick(160.0, flush_after=1000.0)
    assert names(tmp_path) == ["capture-S-00000.avro"]
    files.write(161.0, ENCODED)
    files.tick(219.0, flush_after=1000.0)
    files.close()
    assert names(tmp_path) == ["capture-S-00000.avro", "capture-S-00001.avro"]


def test_what_waits_is_flushed_after_a_while(tmp_path: Path) -> None:
    files = CaptureFiles.single(tmp_path / "one.avro")
    files.write(10.0, ENCODED)
    files.tick(11.0, flush_after=5.0)
    assert read(hidden(tmp_path / "one.avro"))[0] == [record()]
    files.close()
