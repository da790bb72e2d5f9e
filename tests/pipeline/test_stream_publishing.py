"""Batches come into the tables once, wherever they are interrupted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.local import LocalFileSystem

from kwire.pipeline.streaming.publishing import FOLDER, Batch, OutOfStep, Publisher

FILES = ["calls/date=2026-11-21/hour=7/part-0.parquet", "frames/date=2026-11-21/hour=7/b.parquet"]


class Killed(Exception):
    """The process ends here."""


def write(publisher: Publisher, output: Path, number: int) -> None:
    """Write a batch as the job does: the files of both tables have its number in them."""
    last = publisher.last()
    if last is not None and last.number == number:
        return publisher.move(last)
    folder = publisher.attempt(number)
    for name in [*FILES, "waiting/part-0.parquet"]:
        path = output / FOLDER / folder / name.replace("part-", f"part-{number}-{folder[-6:]}-")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{number}")
    publisher.publish(Batch(number=number, folder=folder, seen_us=number))


def published(output: Path) -> list[tuple[str, str]]:
    """Table and content of every file in the tables."""
    found = [*output.glob("calls/*/*/*.parquet"), *output.glob("frames/*/*/*.parquet")]
    return sorted((path.relative_to(output).parts[0], path.read_text()) for path in found)


@pytest.mark.parametrize("survived", range(4))
def test_a_batch_that_is_interrupted_anywhere_comes_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, survived: int
) -> None:
    """Killed at the first, second, third move of a file; the fourth is never made."""
    publisher = Publisher(str(tmp_path))
    with monkeypatch.context() as patch:
        _die_after(patch, survived)
        if survived < 3:
            with pytest.raises(Killed):
                write(publisher, tmp_path, 0)
        else:
            write(publisher, tmp_path, 0)
    again = Publisher(str(tmp_path))
    write(again, tmp_path, 0)
    assert published(tmp_path) == [("calls", "0"), ("frames", "0")]
    last = again.last()
    assert last is not None
    assert (last.number, last.seen_us, len(last.files)) == (0, 0, 2)


def test_what_waits_is_kept_until_the_next_batch_is_published(tmp_path: Path) -> None:
    publisher = Publisher(str(tmp_path))
    for number in range(3):
        write(publisher, tmp_path, number)
    folders = sorted(path.name[:8] for path in (tmp_path / FOLDER).glob("batch-*"))
    assert folders == ["batch-1-", "batch-2-"]
    assert [content for table, content in published(tmp_path) if table == "calls"] == list("012")


def test_a_checkpoint_of_other_tables_is_refused(tmp_path: Path) -> None:
    publisher = Publisher(str(tmp_path))
    with pytest.raises(OutOfStep, match="is at batch -1, and Spark at 3: restore"):
        publisher.attempt(3)


def _die_after(patch: pytest.MonkeyPatch, moves: int) -> None:
    move: Callable[..., Any] = LocalFileSystem.mv
    done = 0

    def counted(self: LocalFileSystem, *paths: str, **options: Any) -> None:
        nonlocal done
        if done == moves:
            raise Killed
        done += 1
        move(self, *paths, **options)

    patch.setattr(LocalFileSystem, "mv", counted)
