"""Captures full of false claims are read in a time that grows as they do, however much they claim.

What is counted is the bytes that are read of the file, which a busy machine makes no more of.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from kwire.capture import CaptureRecord, Damage, RecordEncoder, capture_info, salvage
from kwire.capture.avro import long_bytes
from kwire.capture.reading import CaptureInfo, read_info, read_range
from kwire.capture.salvage import salvaged
from kwire.errors import FileError
from tests.support.capture.capture_records import record, write

SYNC, FIRST_CHUNK = 16, 4096
Items = Iterator[CaptureRecord | Damage]


class CountedFile(BytesIO):
    """A file that counts what is read of it."""

    count = 0

    def read(self, size: int | None = -1, /) -> bytes:
        """Read, and count the bytes."""
        data = super().read(size)
        self.count += len(data)
        return data


@pytest.fixture(scope="module")
def head(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, CaptureInfo]:
    """The header of a capture, and its facts."""
    path = tmp_path_factory.mktemp("capture") / "one.avro"
    write(path, [record(0)])
    info = capture_info(path)
    return path.read_bytes()[: info.start], info


def read(head: tuple[bytes, CaptureInfo], body: bytes) -> tuple[int, list[CaptureRecord | Damage]]:
    """Return the bytes that reading takes, and what was read."""
    file = CountedFile(head[0] + body)
    items = list(read_range(file, "x", 0, len(head[0] + body)))
    return file.count, items


def false_heads(sync: bytes, count: int) -> bytes:
    """Return sync markers, with the head of a block as long as the rest behind each."""
    size = SYNC + 5
    return b"".join(
        sync + long_bytes(1) + long_bytes(max((count - number) * size, 100_000))[:4].ljust(4, b"\0")
        for number in range(count)
    )


def test_heads_of_blocks_that_are_none_are_passed_over(head: tuple[bytes, CaptureInfo]) -> None:
    count, items = read(head, false_heads(head[1].sync, 8000))
    assert all(isinstance(item, Damage) for item in items)
    assert count < 8000 * 2 * FIRST_CHUNK


@pytest.mark.parametrize("body", [b"", bytes(1000), b"\x7f" * 1000], ids=["empty", "0", "7f"])
def test_a_block_that_claims_2_to_the_62_records_has_those_that_are_there(
    head: tuple[bytes, CaptureInfo], body: bytes
) -> None:
    block = long_bytes(2**62) + long_bytes(len(body)) + body + head[1].sync
    _, items = read(head, block)
    assert len(items) < 100


def test_an_array_that_claims_2_to_the_62_texts_is_a_damage(
    head: tuple[bytes, CaptureInfo],
) -> None:
    """Of empty texts, of which each has one byte at least."""
    data = RecordEncoder().encode(record(0))
    for position in range(len(data)):
        claimed = data[:position] + long_bytes(2**62) + bytes(2000) + data[position:]
        _, items = read(head, long_bytes(1) + long_bytes(len(claimed)) + claimed + head[1].sync)
        assert any(isinstance(item, Damage) for item in items)


def test_beginnings_of_records_that_claim_the_rest_are_not_read_again_without_end(
    head: tuple[bytes, CaptureInfo], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(salvage, "AGAIN", 1_000_000)
    start = b"\x2c" + b"A" * 22 + long_bytes(1) + b"\0\0" + long_bytes(2**26)
    false = b"\xff" * 9 + start * 3000
    file = CountedFile(head[0] + false)
    items = list(salvaged(file, Path("x"), head[1]))
    assert all(isinstance(item, Damage) for item in items)
    assert file.count < 3000 * 64 * 1024 + 10_000_000


def test_of_a_codec_the_beginning_is_quoted(head: tuple[bytes, CaptureInfo]) -> None:
    name = b"x" * 50_000
    data = head[0].replace(long_bytes(4) + b"null", long_bytes(len(name)) + name)
    with pytest.raises(FileError, match="captures are not compressed") as error:
        read_info(BytesIO(data), "x")
    assert len(str(error.value)) < 200
