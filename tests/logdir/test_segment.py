"""Batches of a segment are found whatever their sizes, and whatever is read at once."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.batches import Record, build_batch
from kwire.logdir import segment
from kwire.logdir.filesystem import DISK
from kwire.logdir.segment import batches_in


def written(folder: Path, sizes: list[int], cut: int = 0) -> tuple[Path, list[int]]:
    """A segment with batches whose values have these sizes, and where each of them begins."""
    data, positions = b"", []
    for size in sizes:
        positions.append(len(data))
        data += build_batch([Record(value=bytes(size))])
    path = folder / "00000000000000000000.log"
    path.write_bytes(data[: len(data) - cut])
    return path, positions


@given(st.lists(st.integers(0, 900), max_size=8), st.integers(1, 2000), st.integers(0, 60))
def test_every_whole_batch_is_found(sizes: list[int], at_once: int, cut: int) -> None:
    with TemporaryDirectory() as folder:
        path, positions = written(Path(folder), sizes, cut if sizes else 0)
        file = DISK.open(path)
        found = [position for position, _ in batches_in(file, path, at_once=at_once)]
        file.close()
    assert found == (positions[:-1] if cut else positions)


@pytest.mark.parametrize("sizes", [(5, 5, 5), (3, 1, 1), (1, 2, 1)])
def test_batches_that_are_larger_than_a_chunk_follow_each_other(
    tmp_path: Path, sizes: tuple[int, ...]
) -> None:
    """Behind one of 5 MiB another was taken for the torn end of the log."""
    path, positions = written(tmp_path, [size * segment.CHUNK for size in sizes])
    file = DISK.open(path)
    assert [position for position, _ in batches_in(file, path)] == positions
    file.close()
